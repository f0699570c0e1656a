// rocprofv3's *_pc_sampling_host_trap.csv and *_pc_sampling_stochastic.csv. They have no addresses: a sample
// is placed by its instruction's text where the kernel has that once, or where its source line tells which
// one is meant.
#include "base/csv.h"
#include "profile/pc_samples.h"
#include "profile/profile_builder.h"

#include <algorithm>
#include <set>

namespace asmevo::profile {

namespace {

struct Columns {
  size_t dispatch = 0, text = 0, comment = 0;
  bool stochastic = false;
  size_t issued = 0, reason = 0;
};

Result<Columns> columns_of(const CsvReader& csv) {
  Columns c;
  ASMEVO_TRY(c.dispatch, csv.needed("Dispatch_Id"));
  ASMEVO_TRY(c.text, csv.needed("Instruction"));
  ASMEVO_TRY(c.comment, csv.needed("Instruction_Comment"));
  c.stochastic = csv.column("Wave_Issued_Instruction").has_value();
  if (!c.stochastic) return c;
  ASMEVO_TRY(c.issued, csv.needed("Wave_Issued_Instruction"));
  ASMEVO_TRY(c.reason, csv.needed("Stall_Reason"));
  return c;
}

class Importer {
 public:
  Importer(CsvReader csv, const ImportRequest& request)
      : csv_(std::move(csv)), request_(request), listing_(request.listing) {
    for (size_t n = 0; n < listing_.instructions.size(); ++n)
      places_[listing_.instructions[n].text].push_back(n);
  }

  Result<ImportedProfile> run() {
    ASMEVO_TRY(columns_, columns_of(csv_));
    ASMEVO_CHECK(check_gpus(csv_.name(), request_.gpus, listing_));
    ASMEVO_CHECK(read());
    if (csv_.rows() == 0) return bad_input("{}: nothing but a header: no sample was taken", csv_.name());
    ASMEVO_CHECK(choose());
    ProfileBuilder builder(listing_, columns_.stochastic ? Origin::Stochastic : Origin::HostTrap,
                           ImportFormat::PcSamplingCsv, csv_.name());
    place(builder);
    if (placed_ == 0)
      return bad_input("{}: none of the {} of {} has a text that the kernel has only once", csv_.name(),
                       counted(all_, "sample"), listing_.kernel.symbol());
    say(builder);
    return builder.finish();
  }

 private:
  // A number for each text and source line that come together.
  Result<int64_t> number(const std::string& text, const std::string& comment) {
    const auto [at, fresh] = numbers_.try_emplace({comparable(text), comment}, numbers_.size());
    if (fresh && numbers_.size() > PcSamples::most_records)
      return csv_.wrong(fmt::format("more than {} different instructions", PcSamples::most_records));
    if (fresh)
      if (const Status kept = samples_.keep(text + comment); !kept) return csv_.wrong(kept.error().message);
    return at->second;
  }

  Status read() {
    for (;;) {
      ASMEVO_TRY(const bool more, csv_.next());
      if (!more) return {};
      SampleKey key;
      ASMEVO_TRY(key.dispatch, csv_.id(columns_.dispatch));
      ASMEVO_TRY(key.text, number(csv_.field(columns_.text), csv_.field(columns_.comment)));
      if (columns_.stochastic) {
        ASMEVO_TRY(const uint64_t issued, csv_.id(columns_.issued));
        if (issued > 1) return csv_.wrong(fmt::format("Wave_Issued_Instruction is {}, not 0 or 1", issued));
        if (issued == 1)
          key.kind = SampleKind::Issued;
        else
          samples_.set_reason(key, csv_.field(columns_.reason));
      }
      if (const Status added = samples_.add(key); !added) return csv_.wrong(added.error().message);
    }
  }

  // Which dispatches are the kernel's: by the kernel trace, else those of whose samples nine in ten have a
  // text of the kernel.
  Status choose() {
    std::map<uint64_t, std::pair<double, double>> known; // by dispatch: of the kernel's texts, all
    std::vector<bool> ours(numbers_.size());
    for (const auto& [words, n] : numbers_) ours[static_cast<size_t>(n)] = places_.contains(words.first);
    for (const auto& [key, n] : samples_.samples) {
      known[key.dispatch].second += n;
      if (ours[static_cast<size_t>(key.text)]) known[key.dispatch].first += n;
    }
    for (const auto& [dispatch, share] : known)
      if (is_ours(dispatch, share.first, share.second)) dispatches_.insert(dispatch);
    if (request_.dispatch && !dispatches_.contains(*request_.dispatch))
      return bad_input("{}: no samples of dispatch {} of {}", csv_.name(), *request_.dispatch,
                       listing_.kernel.symbol());
    if (request_.dispatch) dispatches_ = {*request_.dispatch};
    if (dispatches_.empty())
      return bad_input("{}: no dispatch of {} in it{}", csv_.name(), listing_.kernel.symbol(),
                       request_.kernel_of_dispatch.empty() ? ", by the texts of its instructions" : "");
    return {};
  }
  bool is_ours(uint64_t dispatch, double of_kernel, double all) const {
    const auto traced = request_.kernel_of_dispatch.find(dispatch);
    if (traced != request_.kernel_of_dispatch.end())
      return listing_.kernel.match(traced->second) != NameMatch::None;
    return of_kernel >= 0.9 * all;
  }

  // Texts that the kernel has once, and of the others those whose neighbours tell by their source lines.
  std::vector<std::optional<size_t>> find_places() {
    std::vector<std::optional<size_t>> found(numbers_.size());
    std::map<size_t, std::string_view> lines; // of instructions that are found
    for (const auto& [words, n] : numbers_) {
      const auto at = places_.find(words.first);
      if (at == places_.end() || at->second.size() != 1) continue;
      found[static_cast<size_t>(n)] = at->second.front();
      if (!words.second.empty()) lines[at->second.front()] = words.second;
    }
    for (const auto& [words, n] : numbers_) {
      const auto at = places_.find(words.first);
      if (at == places_.end() || at->second.size() == 1 || words.second.empty()) continue;
      found[static_cast<size_t>(n)] = by_line(at->second, words.second, lines);
      if (found[static_cast<size_t>(n)]) by_line_.insert(n);
    }
    return found;
  }

  // The one of `candidates` that stands next to an instruction of that source line.
  static std::optional<size_t> by_line(const std::vector<size_t>& candidates, std::string_view line,
                                       const std::map<size_t, std::string_view>& lines) {
    std::optional<size_t> only;
    for (const size_t c : candidates) {
      const auto after = lines.upper_bound(c);
      const bool fits = (after != lines.end() && after->second == line) ||
                        (after != lines.begin() && std::prev(after)->second == line);
      if (!fits) continue;
      if (only) return std::nullopt;
      only = c;
    }
    return only;
  }

  void place(ProfileBuilder& builder) {
    const auto found = find_places();
    std::vector<bool> known(numbers_.size());
    for (const auto& [words, n] : numbers_) known[static_cast<size_t>(n)] = places_.contains(words.first);
    for (const auto& [key, n] : samples_.samples) {
      if (!dispatches_.contains(key.dispatch)) continue;
      all_ += n;
      const auto at = found[static_cast<size_t>(key.text)];
      if (!at) {
        builder.unplaced(n);
        (known[static_cast<size_t>(key.text)] ? several_ : foreign_) += n;
        continue;
      }
      placed_ += n;
      if (by_line_.contains(key.text)) lined_ += n;
      if (add_sample(builder, listing_, key, n, *at)) moved_ += n;
    }
  }

  void say(ProfileBuilder& builder) {
    ImportedProfile& result = builder.result();
    result.bound = BoundBy::Text;
    result.dispatches = dispatches_.size();
    builder.note(
        fmt::format("bound by instruction text, since this format has no addresses: {:.0f} of {} placed",
                    placed_, counted(all_, "sample")));
    if (lined_ > 0) builder.note(fmt::format("{} of them by their source line", counted(lined_, "sample")));
    if (several_ > 0)
      builder.note(
          fmt::format("{} of instructions whose text the kernel has several times: record as JSON to "
                      "place them",
                      counted(several_, "sample")));
    if (foreign_ > 0)
      builder.note(
          fmt::format("{} of instructions that the kernel does not have", counted(foreign_, "sample")));
    if (request_.kernel_of_dispatch.empty())
      builder.note(
          "no kernel trace beside it: dispatches are the kernel's where nine in ten of their samples are "
          "of its instructions");
    note_samples(builder, samples_, placed_, moved_);
  }

  CsvReader csv_;
  const ImportRequest& request_;
  const KernelListing& listing_;
  Columns columns_;
  std::map<std::string_view, std::vector<size_t>, std::less<>> places_; // of texts in the listing
  std::map<std::pair<std::string, std::string>, int64_t> numbers_;      // of text and source line
  PcSamples samples_;
  std::set<uint64_t> dispatches_;
  std::set<int64_t> by_line_;
  double all_ = 0, placed_ = 0, lined_ = 0, several_ = 0, foreign_ = 0, moved_ = 0;
};

} // namespace

Result<ImportedProfile> import_pc_sampling_csv(TextSource source, const ImportRequest& request) {
  ASMEVO_TRY(CsvReader csv, CsvReader::open(std::move(source)));
  return Importer(std::move(csv), request).run();
}

} // namespace asmevo::profile
