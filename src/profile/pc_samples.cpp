#include "profile/pc_samples.h"

#include "base/hash.h"
#include "profile/profile_builder.h"

#include <algorithm>
#include <array>
#include <set>

namespace asmevo::profile {

size_t SampleKeyHash::operator()(const SampleKey& key) const {
  const std::array<uint64_t, 5> words = {
      key.dispatch, key.code_object, key.offset, static_cast<uint64_t>(key.text),
      static_cast<uint64_t>(key.kind) << 8 | static_cast<uint64_t>(key.stall)};
  return hash64(ByteSpan(reinterpret_cast<const uint8_t*>(words.data()), sizeof words));
}

Status PcSamples::add(const SampleKey& key) {
  if (const auto found = samples.find(key); found != samples.end()) {
    ++found->second;
    return {};
  }
  if (samples.size() == most_different)
    return bad_input("more than {} different samples: record fewer dispatches at once", most_different);
  samples.emplace(key, 1);
  return {};
}

Status PcSamples::keep(std::string_view text) {
  text_bytes += text.size();
  if (text_bytes > most_text_bytes) return bad_input("more than {} bytes of text", most_text_bytes);
  return {};
}

void PcSamples::set_reason(SampleKey& key, std::string_view reason) {
  constexpr size_t most_names = 64;
  const auto stall = timing::stall_named(reason);
  key.kind = stall && *stall != timing::Stall::None ? SampleKind::Stalled : SampleKind::Unexplained;
  key.stall = key.kind == SampleKind::Stalled ? *stall : timing::Stall::None;
  if (key.kind == SampleKind::Stalled) return;
  std::string name = reason.empty() ? "none given" : printable(reason);
  if (unknown_reasons.size() >= most_names && !unknown_reasons.contains(name)) name = "others";
  ++unknown_reasons[name];
}

bool add_sample(ProfileBuilder& builder, const KernelListing& listing, const SampleKey& key, double n,
                size_t at) {
  if (builder.result().profile.origin == Origin::HostTrap) {
    const size_t from = before_skid(listing, at);
    builder.at(from).unexplained += n;
    return from != at;
  }
  InstructionTime& time = builder.at(at);
  switch (key.kind) {
  case SampleKind::Issued:
    time.busy += n;
    time.issues += n;
    break;
  case SampleKind::Stalled: time.stalled[static_cast<size_t>(key.stall)] += n; break;
  case SampleKind::Unexplained: time.unexplained += n; break;
  }
  return false;
}

void note_samples(ProfileBuilder& builder, const PcSamples& samples, double placed, double moved) {
  if (builder.result().profile.origin == Origin::HostTrap)
    builder.note(
        fmt::format("host-trap samples come up to two instructions late: {:.0f} of {} were moved back to "
                    "the wait in front of them",
                    moved, counted(placed, "sample")));
  for (const auto& [name, n] : samples.unknown_reasons)
    builder.note(
        fmt::format("{} of all the file's with the unknown stall reason '{}'", counted(n, "sample"), name));
}

namespace {

class Placer {
 public:
  Placer(const PcSamples& all, ImportFormat format, const std::string& file, const ImportRequest& request)
      : all_(all), file_(file), request_(request), listing_(request.listing),
        builder_(listing_, all.origin, format, file) {}

  Result<ImportedProfile> run() {
    if (all_.samples.empty()) return bad_input("{}: no PC samples in it", file_);
    ASMEVO_CHECK(check_gpus(file_, all_.gpus, listing_));
    ASMEVO_CHECK(choose_kernels());
    ASMEVO_CHECK(choose_dispatches());
    gather();
    if (objects_.empty()) return no_samples();
    for (const auto& [object, keys] : objects_) ASMEVO_CHECK(place_object(object, keys));
    if (placed_ == 0) return no_samples();
    say();
    return builder_.finish();
  }

 private:
  using Keys = std::vector<std::pair<SampleKey, double>>;

  // The file's kernels that are ours by name. Only if none has the whole name, those by its last part.
  Status choose_kernels() {
    NameMatch best = NameMatch::None;
    for (const LoadedKernel& k : all_.kernels) best = std::max(best, match(k));
    if (best == NameMatch::None) {
      if (all_.kernels.empty()) return bad_input("{}: it names no kernels", file_);
      return bad_input("{}: no kernel {} in it; it has {}", file_, listing_.kernel.symbol(),
                       some_of(kernel_names()));
    }
    for (const LoadedKernel& k : all_.kernels) {
      if (match(k) != best) continue;
      kernels_.insert(k.id);
      if (!kernel_in_.emplace(k.code_object, &k).second && best == NameMatch::Truncated)
        return bad_input("{}: several kernels in it are called {}: record without --truncate-kernels", file_,
                         printable(k.display_name));
    }
    return {};
  }
  NameMatch match(const LoadedKernel& k) const {
    return std::max(listing_.kernel.match(k.name), listing_.kernel.match(k.display_name));
  }
  std::vector<std::string> kernel_names() const {
    std::set<std::string> names;
    for (const LoadedKernel& k : all_.kernels) names.insert(k.display_name.empty() ? k.name : k.display_name);
    return {names.begin(), names.end()};
  }

  Status choose_dispatches() {
    for (const auto& [dispatch, kernel] : all_.kernel_of_dispatch)
      if (kernels_.contains(kernel)) dispatches_.insert(dispatch);
    if (!request_.dispatch) return {};
    if (dispatches_.empty() && all_.kernel_of_dispatch.empty()) return {};
    if (dispatches_.contains(*request_.dispatch)) return {};
    std::vector<std::string> numbers;
    numbers.reserve(dispatches_.size());
    for (const uint64_t d : dispatches_) numbers.push_back(fmt::format("{}", d));
    return bad_input("{}: no dispatch {} of {}; it has {}", file_, *request_.dispatch,
                     listing_.kernel.symbol(), numbers.empty() ? "none" : some_of(numbers));
  }

  bool wanted(const SampleKey& key) const {
    if (request_.dispatch && key.dispatch != *request_.dispatch) return false;
    const auto kernel = all_.kernel_of_dispatch.find(key.dispatch);
    if (kernel != all_.kernel_of_dispatch.end()) return kernels_.contains(kernel->second);
    // Nobody traced this dispatch: its samples are ours if they lie in the kernel (place_object).
    return kernel_in_.contains(key.code_object);
  }

  void gather() {
    for (const auto& [key, n] : all_.samples) {
      if (!wanted(key)) {
        others_ += n;
        continue;
      }
      if (!all_.kernel_of_dispatch.contains(key.dispatch)) untraced_ = true;
      if (kernel_in_.contains(key.code_object)) {
        objects_[key.code_object].emplace_back(key, n);
      } else {
        builder_.unplaced(n);
        if (key.code_object == 0) undecoded_ += n;
      }
    }
  }

  std::unexpected<Error> no_samples() const {
    return bad_input("{}: no sample of {} in it ({} of other kernels)", file_, listing_.kernel.symbol(),
                     counted(others_, "sample"));
  }

  // Address in the ELF file of an offset.
  static uint64_t elf_address(const LoadedObject& object, uint64_t offset) {
    return offset + object.base - static_cast<uint64_t>(object.delta);
  }

  int64_t text_of(const SampleKey& key) const {
    if (key.text >= 0) return key.text;
    const auto found = all_.text_at.find({key.code_object, key.offset});
    return found == all_.text_at.end() ? -1 : found->second;
  }

  // The texts of the places that were sampled, once each.
  std::vector<TextAt> texts_of(const Keys& keys, const LoadedObject& object) const {
    std::map<uint64_t, std::string_view> by_address;
    for (const auto& [key, n] : keys)
      if (const int64_t t = text_of(key); t >= 0 && static_cast<uint64_t>(t) < all_.texts.size())
        by_address.emplace(elf_address(object, key.offset), all_.texts[static_cast<size_t>(t)]);
    std::vector<TextAt> texts;
    texts.reserve(by_address.size());
    for (const auto& [address, text] : by_address) texts.push_back({address, text});
    return texts;
  }

  bool symbols_agree(const LoadedKernel& kernel, const LoadedObject& object) const {
    if (kernel.descriptor == 0) return false;
    const auto delta = static_cast<uint64_t>(object.delta);
    return kernel.descriptor - delta == listing_.descriptor &&
           (kernel.entry == 0 || kernel.entry - delta == listing_.entry);
  }

  // Only the texts within the kernel tell whether it is ours: samples of untraced dispatches of other kernels
  // may be among them.
  std::vector<TextAt> inside(std::vector<TextAt> texts, int64_t shift) const {
    if (!untraced_) return texts;
    std::erase_if(texts,
                  [&](const TextAt& t) { return !listing_.at(t.address - static_cast<uint64_t>(shift)); });
    return texts;
  }

  Status place_object(uint64_t number, const Keys& keys) {
    const auto found = all_.objects.find(number);
    const LoadedObject object = found == all_.objects.end() ? LoadedObject() : found->second;
    const LoadedKernel& kernel = *kernel_in_.at(number);
    ASMEVO_TRY(const int64_t shift, bind(object, kernel, texts_of(keys, object)));
    for (const auto& [key, n] : keys) {
      const auto at = listing_.at(elf_address(object, key.offset) - static_cast<uint64_t>(shift));
      if (at)
        place(key, n, *at);
      else if (all_.kernel_of_dispatch.contains(key.dispatch))
        builder_.unplaced(n);
      else
        others_ += n;
    }
    return {};
  }

  Result<int64_t> bind(const LoadedObject& object, const LoadedKernel& kernel, std::vector<TextAt> texts) {
    const bool symbols = symbols_agree(kernel, object);
    const bool size = object.bytes == 0 || object.bytes == listing_.object_bytes;
    if (texts.empty()) {
      if (!symbols || !size) return other_object(object, kernel, {});
      note_once(
          "bound by the addresses of the kernel's symbols; the file has no instruction texts to compare");
      bound(BoundBy::Address);
      return 0;
    }
    const TextMatch here = match_texts(listing_, inside(texts, 0));
    // Where symbols and size already speak for this object, half is enough.
    const bool likely = symbols && object.bytes == listing_.object_bytes;
    if (here.good() || (likely && here.same > here.different)) {
      bound(BoundBy::Address);
      note_once(fmt::format("bound by address: {} of {} sampled instructions read as in the object{}",
                            here.same, here.same + here.different,
                            symbols ? ", and the kernel's symbols are where it has them" : ""));
      note_different(here);
      return 0;
    }
    const auto shift = find_shift(listing_, texts);
    const TextMatch moved = shift ? match_texts(listing_, inside(texts, *shift), *shift) : TextMatch();
    // Nothing in the kernel, and nothing looks like it: samples of other kernels, all of them.
    if (!moved.good() && here.same + here.different == 0) return 0;
    // One text alone fits anywhere.
    if (!shift || !moved.good() || moved.same < 2) return other_object(object, kernel, here);
    bound(BoundBy::Text);
    note_once(moved_note(moved, *shift, "sampled instruction"));
    note_different(moved);
    return *shift;
  }

  std::unexpected<Error> other_object(const LoadedObject& object, const LoadedKernel& kernel,
                                      const TextMatch& match) const {
    if (match.first_different) return other_object_error(file_, listing_, match, "sampled instruction");
    if (object.bytes != 0 && object.bytes != listing_.object_bytes)
      return bad_input("{}: recorded with another object: {} has {} bytes, this one {}", file_,
                       object.uri.empty() ? "its" : printable(object.uri), object.bytes,
                       listing_.object_bytes);
    if (kernel.descriptor == 0)
      return bad_input(
          "{}: it has neither instruction texts nor the kernel's address, so nothing tells whether "
          "it is of this object",
          file_);
    return bad_input(
        "{}: recorded with another object: {} has its descriptor at {:#x} there, at {:#x} in this one", file_,
        listing_.kernel.symbol(), kernel.descriptor - static_cast<uint64_t>(object.delta),
        listing_.descriptor);
  }

  void place(const SampleKey& key, double n, size_t at) {
    placed_ += n;
    sampled_.insert(key.dispatch);
    if (add_sample(builder_, listing_, key, n, at)) moved_ += n;
  }

  void bound(BoundBy by) { builder_.result().bound = std::max(builder_.result().bound, by); }
  void note_once(const std::string& text) {
    const auto& notes = builder_.result().profile.notes;
    if (std::ranges::find(notes, text) == notes.end()) builder_.note(text);
  }
  void note_different(const TextMatch& m) {
    if (const std::string text = different_note(m); !text.empty()) note_once(text);
  }

  void say() {
    ImportedProfile& result = builder_.result();
    result.dispatches = sampled_.size();
    if (result.profile.unplaced > 0)
      builder_.note(fmt::format("{} in no instruction of the kernel or of a function it may call",
                                counted(result.profile.unplaced, "sample")));
    if (undecoded_ > 0)
      builder_.note(fmt::format("{:.0f} of them at addresses that the profiler did not know", undecoded_));
    const size_t known = request_.dispatch ? 1 : dispatches_.size();
    if (known > 2 * sampled_.size())
      builder_.note(
          fmt::format("records may be lost: only {} of {} dispatches have samples", sampled_.size(), known));
    if (untraced_)
      builder_.note("dispatches without a kernel trace: their samples count where they lie in the kernel");
    note_samples(builder_, all_, placed_, moved_);
  }

  const PcSamples& all_;
  const std::string& file_;
  const ImportRequest& request_;
  const KernelListing& listing_;
  ProfileBuilder builder_;
  std::set<uint64_t> kernels_;                        // ids of ours
  std::map<uint64_t, const LoadedKernel*> kernel_in_; // ours, by code object
  std::set<uint64_t> dispatches_, sampled_;           // of ours; those with samples
  std::map<uint64_t, Keys> objects_;                  // samples of ours by code object
  double others_ = 0, placed_ = 0, moved_ = 0, undecoded_ = 0;
  bool untraced_ = false;
};

} // namespace

Result<ImportedProfile> place_samples(const PcSamples& samples, ImportFormat format, const std::string& file,
                                      const ImportRequest& request) {
  return Placer(samples, format, file, request).run();
}

} // namespace asmevo::profile
