#include "oracle/case_set.h"

#include "base/hash.h"
#include "base/parallel.h"
#include "base/random.h"
#include "oracle/case_quality.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

namespace asmevo::oracle {

namespace {

constexpr std::string_view full_shape = "full"; // what times are taken at: too large to be tried by default
constexpr std::string_view search_shape = "search";
constexpr uint64_t held_back_seeds = 1'000'000; // where the held-back set's seeds start
constexpr size_t most_made_up_sizes = 96;
constexpr uint64_t most_made_up_instructions = 1'000'000; // of a workgroup
constexpr uint64_t most_made_up_workgroups = 1024;        // more would cost more than all other cases
constexpr uint64_t most_touched = uint64_t{512} << 20;    // bytes, by copies and the like at made-up sizes
// Of a whole dispatch of what has to run whole, at the sizes of `full` or nearly so.
constexpr uint64_t most_whole_workgroups = 16'384, most_whole_instructions = 8'000'000;
constexpr uint64_t most_whole_bytes = uint64_t{256} << 20; // of all buffers
constexpr uint64_t full_sample = 2;                        // workgroups of the full shape: the corners
constexpr uint64_t between_sample = 6;                     // of sizes between the small shape and `full`
constexpr uint64_t least_spread = 8;
constexpr unsigned whole_dwords = 4; // bytes that buffers are shifted by

// Small ones first: they show most mistakes, and soon.
std::vector<std::string> shapes_of(const LaunchSpec& spec, const std::string& wanted) {
  if (!wanted.empty()) return {wanted};
  std::vector<std::string> list;
  if (spec.shapes.contains("tiny")) list.emplace_back("tiny");
  for (const auto& [shape, sizes] : spec.shapes)
    if (shape != "tiny" && shape != search_shape && shape != full_shape) list.push_back(shape);
  // Where there is no `full`, [sizes] by themselves are a shape too.
  if (!spec.shapes.contains(std::string(full_shape))) list.emplace_back("");
  if (spec.shapes.contains(std::string(search_shape))) list.emplace_back(search_shape);
  if (list.empty()) list.emplace_back(full_shape);
  return list;
}

// The sizes of a shape that are plain numbers.
std::map<std::string, int64_t> plain_sizes(const LaunchSpec& spec, const std::string& shape) {
  std::map<std::string, Expression> texts = spec.sizes;
  if (const auto found = spec.shapes.find(shape); found != spec.shapes.end())
    for (const auto& [name, e] : found->second) texts.insert_or_assign(name, e);
  std::map<std::string, int64_t> list;
  for (const auto& [name, e] : texts) {
    int64_t value = 0;
    const auto parsed = std::from_chars(e.text.data(), e.text.data() + e.text.size(), value);
    if (parsed.ec == std::errc{} && parsed.ptr == e.text.data() + e.text.size()) list[name] = value;
  }
  return list;
}

class Recipes {
 public:
  Recipes(const LaunchSpec& spec, const CaseSetOptions& options)
      : spec_(spec), options_(options), shapes_(shapes_of(spec, options.shape)),
        first_seed_(options.held_back ? held_back_seeds : 0) {}

  std::vector<CaseRecipe> make() {
    std::vector<CaseRecipe> all = everything();
    if (options_.one_in <= 1) return all;
    size_t made_up = 0;
    std::erase_if(all, [&](const CaseRecipe& r) { return r.made_up() && made_up++ % options_.one_in != 0; });
    return all;
  }

 private:
  std::vector<CaseRecipe> everything() {
    // First what the file says, then what is made up; shapes that take long come last of each.
    for (const std::string& shape : shapes_)
      for (unsigned seed = 0; seed < (shape == search_shape ? 1 : options_.seeds); ++seed)
        add({.shape = shape, .seed = seed});
    const bool sampled = options_.prepare.sample != 0;
    if (options_.as_given || sampled) return std::move(list_);
    for (const std::string& shape : shapes_)
      for (const InputVariant variant : other_variants())
        if (shape != search_shape || variant == InputVariant::Spikes || shapes_.size() == 1)
          add({.shape = shape, .variant = variant, .seed = options_.seeds});
    for (unsigned more = 1; more <= 3; ++more)
      for (const InputVariant variant :
           {InputVariant::Spikes, InputVariant::Boundary, InputVariant::Magnitudes})
        for (const std::string& shape : shapes_)
          if (shape == shapes_.front() || (variant != InputVariant::Spikes && shape != search_shape))
            add({.shape = shape, .variant = variant, .seed = options_.seeds + more});
    for (unsigned more = 4; more <= 9; ++more)
      add({.shape = shapes_.front(), .variant = InputVariant::Magnitudes, .seed = options_.seeds + more});
    if (!options_.shape.empty()) return std::move(list_);
    add_in_place(shapes_.front());
    add_shifted(shapes_.front());
    add_sizes(shapes_.front());
    add_block_ends(shapes_.front());
    add_extremes(shapes_.front());
    for (const std::string& shape : shapes_)
      add_joint_sizes(shape, shape == shapes_.front() ? options_.joint_sizes : options_.joint_sizes / 8);
    if (spec_.shapes.contains(std::string(full_shape)) && shapes_.front() != full_shape) {
      add_full();
      add_between();
    }
    return std::move(list_);
  }

  void add(CaseRecipe r) {
    r.seed += first_seed_;
    std::string name = r.shape;
    const auto part = [&name](const std::string& text) { name += (name.empty() ? "" : ", ") + text; };
    for (const auto& [size, value] : r.sizes) part(fmt::format("{} = {}", size, value));
    if (r.variant != InputVariant::AsGiven) part(std::string(oracle::name(r.variant)));
    if (r.in_place) part(r.in_place->first + " in place of " + r.in_place->second);
    if (r.shift != 0) part(r.shift == whole_dwords ? "shifted" : fmt::format("shifted by {}", r.shift));
    if (r.spread) part("all over");
    if (r.sample != 0) part("corners");
    part(fmt::format("seed {}", r.seed));
    r.name = std::move(name);
    list_.push_back(std::move(r));
  }

  // By whole dwords, as scalar loads need them; narrow elements by themselves, too.
  void add_shifted(const std::string& shape) {
    add({.shape = shape, .seed = options_.seeds, .shift = whole_dwords});
    for (const unsigned bytes : {2U, 1U})
      if (std::ranges::any_of(spec_.buffers, [&](const BufferSpec& b) {
            const auto type = element_type(b.dtype);
            return type && type->bits == 8 * bytes;
          }))
        add({.shape = shape, .seed = options_.seeds, .shift = bytes});
  }

  // One size at a time: few, and such that other remainders are left.
  void add_sizes(const std::string& shape) {
    const size_t limit = list_.size() + most_made_up_sizes;
    for (const auto& [size, value] : plain_sizes(spec_, shape)) {
      std::set<int64_t> others = {0, 1, 2, 3, 5, 7, value - 1, value + 1, value + 2, value + 3};
      if (options_.held_back) others = {4, 6, 9, value - 2, value - 3, value + 4, value + 5};
      for (const int64_t other : others)
        if (other >= 0 && other != value && list_.size() < limit)
          add({.shape = shape, .sizes = {{size, other}}, .seed = options_.seeds + 1});
    }
  }

  // All sizes at once. Code for tiles compares every row and column of one with the sizes, each by an
  // instruction of its own: only where a size ends just there does one that is off by one show. So each size
  // goes through as many numbers in a row as tiles are long, around the shape's. Steps and ranges have
  // nothing in common, so that the sizes do not go together, nor their remainders. Small ones, which count
  // things and not elements, go through fewer. A step that shares a factor with its range would leave most of
  // the range out.
  void add_joint_sizes(const std::string& shape, unsigned count) {
    if (shape == search_shape) return;
    for (unsigned i = 0; i < count; ++i) {
      std::map<std::string, int64_t> sizes;
      int64_t number = 0;
      for (const auto& [size, value] : plain_sizes(spec_, shape)) {
        if (value < 2) { // more likely a switch than a size
          if (i % 4 == 3) sizes[size] = 1 - value;
          continue;
        }
        const int64_t many = std::max<int64_t>(128, count) + (number % 2 == 0 ? -number : number);
        const int64_t range = value <= 8 ? 2 * value + number % 2 : value <= 64 ? 32 + number % 5 : many;
        int64_t step = 2 * number + 1;
        while (std::gcd(step, range) != 1) ++step;
        const int64_t place =
            (static_cast<int64_t>(i) * step + static_cast<int64_t>(first_seed_ % 7)) % range;
        sizes[size] = std::max<int64_t>(1, value - range / 2) + place;
        ++number;
      }
      if (!sizes.empty()) add({.shape = shape, .sizes = std::move(sizes), .seed = options_.seeds + 2 + i});
    }
  }

  // One size at the ends of blocks and a little beyond, all others 1, so that it costs little: loops go
  // round many times, there are many workgroups in one direction, and what is left over after whole vectors
  // comes after several rounds.
  void add_block_ends(const std::string& shape) {
    const std::map<std::string, int64_t> ones = all_ones(shape);
    static const std::vector<int64_t> tail = {1, 2, 3, 4, 5, 6, 7}, around = {-1, 0, 1};
    static const std::map<int64_t, std::vector<int64_t>> blocks = {
        {512, around}, {2047, around}, {2048, tail}, {4096, tail}, {6144, tail}, {8192, around}};
    for (const auto& [size, one] : ones)
      for (const auto& [block, offsets] : blocks)
        for (const int64_t off : offsets) {
          std::map<std::string, int64_t> sizes = ones;
          sizes[size] = block + (options_.held_back ? 3 * off : off);
          add({.shape = shape, .sizes = std::move(sizes), .seed = options_.seeds + 1});
        }
  }

  // One element, and that an extreme: what a maximum or a sum starts from shows in nothing else.
  void add_extremes(const std::string& shape) {
    constexpr unsigned many = 12; // as there are nine kinds
    const std::map<std::string, int64_t> ones = all_ones(shape);
    for (unsigned i = 0; i < many && !ones.empty(); ++i)
      add({.shape = shape, .sizes = ones, .variant = InputVariant::Extremes, .seed = options_.seeds + 1 + i});
  }

  // Of the sizes that are more.
  std::map<std::string, int64_t> all_ones(const std::string& shape) const {
    std::map<std::string, int64_t> ones;
    for (const auto& [size, value] : plain_sizes(spec_, shape))
      if (value > 1) ones[size] = 1;
    return ones;
  }

  // The corners of the full shape, and of larger ones still, with elements whose numbers need more than 32
  // bits: upper halves of offsets are 0 in everything smaller. Once with the other sizes as in `full`, whose
  // tiles are mostly whole, and once as in a small shape, where they end in between.
  void add_full() {
    const std::string shape(full_shape);
    add({.shape = shape, .sample = full_sample, .watched = true});
    add({.shape = shape, .seed = options_.seeds, .spread = true});
    for (const std::string& of : {shape, shapes_.front()}) {
      const auto plan = LaunchPlan::make(spec_, of);
      if (!plan) continue;
      uint64_t largest = 1;
      for (const PlannedBuffer& b : plan->buffers) largest = std::max(largest, b.layout.count());
      // Numbers of elements beyond 24 bits; such as need more than 32 for their bytes; beyond 31; and beyond
      // 32, which no size of 32 bits lets one have.
      constexpr std::array<uint64_t, 4> wanted = {uint64_t{5} << 23, uint64_t{5} << 28, uint64_t{5} << 29,
                                                  uint64_t{3} << 32};
      for (const auto& [size, value] : plain_sizes(spec_, of))
        for (const uint64_t elements : wanted)
          if (value > 1 && largest < elements)
            add({.shape = of,
                 .sizes = {{size, value * static_cast<int64_t>(elements / largest + 1)}},
                 .sample = full_sample});
    }
  }

  // All sizes somewhere between those of the small shape and those of `full`, each at a place of its own.
  void add_between() {
    constexpr unsigned many = 4;
    const auto small = plain_sizes(spec_, shapes_.front()),
               large = plain_sizes(spec_, std::string(full_shape));
    for (unsigned i = 0; i < many; ++i) {
      std::map<std::string, int64_t> sizes;
      for (const auto& [size, most] : large) {
        const auto least = small.find(size);
        if (least == small.end() || least->second < 2 || most <= 2 * least->second) continue;
        const uint64_t noise = hash64(as_bytes(size)) + first_seed_ + i;
        const double part = (i + static_cast<double>(RandomStream(noise).below(1000)) / 1000) / many;
        sizes[size] =
            std::llround(static_cast<double>(least->second) *
                         std::pow(static_cast<double>(most) / static_cast<double>(least->second), part));
      }
      if (!sizes.empty())
        add({.shape = std::string(full_shape),
             .sizes = std::move(sizes),
             .sample = between_sample,
             .watched = i == (options_.held_back ? many - 2 : many - 1)});
    }
  }

  // Whoever launches a kernel may let it leave its result where one of its inputs was, as long as it bears
  // that. Whether it does, K0 says.
  void add_in_place(const std::string& shape) {
    constexpr size_t most = 6;
    const auto plan = LaunchPlan::make(spec_, shape);
    if (!plan) return;
    size_t count = 0;
    for (const PlannedBuffer& out : plan->buffers)
      for (const PlannedBuffer& in : plan->buffers)
        if (can_be_in_place(out, in) && count++ < most)
          add({.shape = shape, .seed = options_.seeds, .in_place = std::pair(out.name, in.name)});
  }

  static bool can_be_in_place(const PlannedBuffer& out, const PlannedBuffer& in) {
    const auto plain = [](const PlannedBuffer& b) {
      return !b.alias && b.pointers.empty() && b.spec->allocation.empty();
    };
    return out.role == Role::Out && in.role == Role::In && plain(out) && plain(in) && out.bytes == in.bytes &&
           out.spec->dtype == in.spec->dtype;
  }

  const LaunchSpec& spec_;
  const CaseSetOptions& options_;
  std::vector<std::string> shapes_;
  uint64_t first_seed_;
  std::vector<CaseRecipe> list_;
};

// What a recipe came to.
struct Made {
  std::vector<std::shared_ptr<const PreparedCase>> cases;
  std::string left_out; // why
  std::optional<Error> error;
  std::vector<std::pair<std::string, bool>> influence;
  bool all_same = false, more_launches = false;
  bool reads_guards() const {
    return std::ranges::any_of(cases, [](const auto& c) { return !c->guard_reads().empty(); });
  }
  bool always_the_same() const {
    return std::ranges::all_of(cases, [](const auto& c) { return c->always_the_same(); });
  }
};

class Maker {
 public:
  Maker(const LaunchSpec& spec, std::shared_ptr<const Subject> k0, const CaseSetOptions& options)
      : spec_(spec), k0_(std::move(k0)), options_(options), recipes_(recipes_of(spec, options)),
        made_(recipes_.size()) {}

  Result<CaseSet> run() {
    // Of the same size, small, and many: side by side. One at a time where a shape was asked for, which may
    // be as large as memory.
    const bool together = options_.shape.empty() && !spec_.shapes.empty();
    const unsigned side_by_side = together ? options_.prepare.threads : 1;
    const auto make_one = [&](size_t i) {
      Made& m = made_[i];
      if (const Status status = make(recipes_[i], together ? 1 : options_.prepare.threads, m); !status)
        m.error = status.error();
      if (options_.progress) options_.progress(++done_, recipes_.size());
    };
    // What is wrong with the launch as a whole shows in the first case.
    make_one(0);
    if (made_[0].error) return std::unexpected(*made_[0].error);
    note_usual(0);
    std::vector<size_t> left;
    for (size_t i = 1; i < recipes_.size(); ++i) {
      if (!is_usual(recipes_[i])) {
        left.push_back(i);
        continue;
      }
      make_one(i);
      note_usual(i);
    }
    parallel_for(left.size(), side_by_side, [&](size_t i, unsigned) { make_one(left[i]); });
    return collect();
  }

 private:
  // The corners of `full` with its own sizes.
  static bool is_usual(const CaseRecipe& r) { return r.sample != 0 && r.sizes.empty(); }
  // What a workgroup of K0 needs for a shape with its own sizes: bounds what one may need for enlarged ones.
  void note_usual(size_t i) {
    uint64_t& most = usual_instructions_[recipes_[i].shape];
    if (const auto plan = plan_for(recipes_[i]); plan && !made_[i].cases.empty()) {
      uint64_t bytes = 0;
      for (const PlannedBuffer& b : plan->buffers) bytes += b.bytes;
      usual_bytes_[recipes_[i].shape] = bytes / made_[i].cases.front()->dispatch().shape.workgroup_count();
    }
    for (const auto& c : made_[i].cases) {
      const uint64_t groups =
          c->sample().empty() ? c->dispatch().shape.workgroup_count() : c->sample().size();
      most = std::max(most, c->instructions() / groups);
    }
    if (most == 0) usual_instructions_.erase(recipes_[i].shape);
  }

  Result<LaunchPlan> plan_for(const CaseRecipe& r) const {
    LaunchSpec spec = spec_;
    if (r.in_place) put_in_place(spec, *r.in_place);
    if (r.shift != 0) shift(spec, r.shift);
    for (const auto& [size, value] : r.sizes) {
      const Expression text{.text = std::to_string(value), .line = 0};
      const auto shape = spec.shapes.find(r.shape);
      if (shape != spec.shapes.end() && shape->second.contains(size))
        shape->second[size] = text;
      else
        spec.sizes[size] = text;
    }
    return LaunchPlan::make(std::move(spec), r.shape, r.seed);
  }

  static void put_in_place(LaunchSpec& spec, const std::pair<std::string, std::string>& which) {
    for (BufferSpec& b : spec.buffers) {
      if (b.name == which.first) b.alias = which.second, b.init.reset(), b.role = Role::InOut;
      if (b.name == which.second) b.role = Role::InOut;
    }
  }

  // Pointers into the middle of something larger.
  static void shift(LaunchSpec& spec, unsigned least) {
    for (BufferSpec& b : spec.buffers) {
      if (!b.allocation.empty() || !b.alias.empty()) continue;
      const auto type = element_type(b.dtype);
      b.allocation = "around " + b.name;
      b.offset = {.text = std::to_string(std::max(least, type ? type->bits / 8 : 16U)), .line = b.line};
      AllocationSpec& around = spec.allocations.emplace_back();
      around.line = b.line, around.name = b.allocation;
    }
  }

  // How many workgroups of `full`. In the second set, which few candidates come to, far more.
  uint64_t spread_of(const CaseRecipe& r) const {
    const auto usual = usual_instructions_.find(r.shape);
    if (usual == usual_instructions_.end()) return least_spread;
    const uint64_t instructions = options_.held_back ? 4'000'000 : 250'000,
                   most = options_.held_back ? 16'384 : 1024;
    const uint64_t bytes = uint64_t{options_.held_back ? 64U : 16U} << 20, each = usual_bytes_.at(r.shape);
    const uint64_t affordable =
        std::min(instructions / std::max<uint64_t>(1, usual->second), bytes / std::max<uint64_t>(1, each));
    return std::clamp<uint64_t>(affordable, least_spread, most);
  }

  uint64_t sample_of(const CaseRecipe& r) const { return r.spread ? spread_of(r) : r.sample; }

  // Of a workgroup of K0.
  uint64_t most_instructions(const CaseRecipe& r) const {
    const uint64_t most = options_.prepare.most_instructions;
    if (!r.made_up()) return most;
    // Where a size beyond `full` counts rounds of a loop, the kernel would go on for hours.
    const bool enlarged = r.spread || (r.sample != 0 && !r.sizes.empty());
    const auto usual = usual_instructions_.find(r.shape);
    if (enlarged && usual != usual_instructions_.end())
      return std::min(most, usual->second + usual->second / 4 + 20'000);
    return std::min(most, most_made_up_instructions);
  }

  LowerOptions lowering(const CaseRecipe& r, unsigned threads, bool& more_launches) const {
    LowerOptions options;
    options.kernel = options_.kernel;
    options.name = r.name;
    options.sample = sample_of(r);
    options.seed = r.seed;
    if (r.made_up() && options_.prepare.sample == 0) options.most_workgroups = most_made_up_workgroups;
    if (!r.sizes.empty()) options.most_touched = most_touched;
    options.known = std::make_shared<FirstContents>(room_);
    options.more = &more_launches;
    options.threads = threads;
    options.most_instructions = most_instructions(r);
    return options;
  }

  PrepareOptions preparing(const CaseRecipe& r, unsigned threads) const {
    PrepareOptions options = options_.prepare;
    options.threads = threads;
    options.seed = r.seed;
    options.most_instructions = most_instructions(r);
    if (const uint64_t sample = sample_of(r); sample != 0) options.sample = sample;
    options.sanitize = options_.sanitize && is_watched(r);
    if (r.watched) options.most_watched = options_.held_back ? 4'000'000 : 100'000;
    // K0's orders of waves are tried with the first inputs of a shape; with others one more run shows noise
    // that matters.
    constexpr unsigned some = 2;
    if (!is_first(r)) options.schedules = std::min(options.schedules, some);
    return options;
  }
  // Watching takes several times as long as the run. What it finds seldom depends on sizes and inputs, but
  // for paths that few of them take.
  static bool is_watched(const CaseRecipe& r) {
    if (r.watched) return true;
    if (r.shape == search_shape || r.sample != 0 || r.spread) return false;
    if (!r.made_up()) return r.seed % held_back_seeds == 0;
    constexpr uint64_t one_in = 8;
    return hash64(as_bytes(r.name)) % one_in == 0;
  }
  static bool is_first(const CaseRecipe& r) {
    return !r.made_up() && r.seed % held_back_seeds == 0 && r.shape != search_shape;
  }

  Status make(const CaseRecipe& r, unsigned threads, Made& made) const {
    ASMEVO_TRY(LaunchPlan plan, plan_for(r));
    if (!apply(r.variant, plan) && r.variant != InputVariant::AsGiven) return {}; // no other inputs
    const bool sampled = r.sample != 0 || r.spread;
    if (sampled) fill_unwritten(plan);
    ASMEVO_TRY(auto cases, lower(plan, object_of(k0_), lowering(r, threads, made.more_launches)));
    const PrepareOptions prepare = preparing(r, threads);
    const auto needs_all = [&](const Case& c) {
      return sampled && c.shape.workgroup_count() > prepare.sample && !check_sampled(*k0_, c);
    };
    if (options_.held_back && may_run_whole(r) && std::ranges::any_of(cases, needs_all))
      return make_whole(r, threads, plan, made);
    for (Case& c : cases) {
      if (needs_all(c)) continue;
      c.made_up = r.made_up();
      ASMEVO_TRY(auto prepared, PreparedCase::make(std::move(c), k0_, prepare));
      made.cases.push_back(std::move(prepared));
    }
    return judge(r, is_first(r), made);
  }

  // One of those with the sizes of `full` is enough.
  static bool may_run_whole(const CaseRecipe& r) { return r.spread || (r.watched && !r.sizes.empty()); }

  // Of a kernel whose workgroups add up to something a sample says nothing. Only as long as that is no more
  // work than other cases are.
  Status make_whole(const CaseRecipe& r, unsigned threads, const LaunchPlan& plan, Made& made) const {
    uint64_t bytes = 0;
    for (const PlannedBuffer& b : plan.buffers) bytes += b.bytes;
    if (bytes > most_whole_bytes) return {};
    LowerOptions lowered = lowering(r, threads, made.more_launches);
    lowered.sample = 0;
    lowered.most_workgroups = most_whole_workgroups;
    lowered.most_in_all = most_whole_instructions;
    ASMEVO_TRY(auto cases, lower(plan, object_of(k0_), lowered));
    for (Case& c : cases) {
      c.made_up = true;
      PrepareOptions prepare = preparing(r, threads);
      prepare.sample = 0;
      prepare.most_instructions = most_whole_instructions / c.shape.workgroup_count();
      ASMEVO_TRY(auto prepared, PreparedCase::make(std::move(c), k0_, prepare));
      made.cases.push_back(std::move(prepared));
    }
    return judge(r, false, made);
  }

  Status judge(const CaseRecipe& r, bool first, Made& made) const {
    made.all_same = true;
    uint64_t elements = 0, not_finite = 0, at_limit = 0;
    for (const auto& c : made.cases) {
      ASMEVO_TRY(const OutputQuality q, output_quality(*c));
      elements += q.elements, not_finite += q.not_finite, at_limit += q.at_limit;
      made.all_same &= q.all_same;
      if (!first) continue;
      ASMEVO_TRY(const auto influence, input_influence(*c));
      made.influence.insert(made.influence.end(), influence.begin(), influence.end());
    }
    if (!r.made_up()) return {};
    if (not_finite != 0 && !wants_specials(r.variant))
      made.left_out = fmt::format("K0 leaves NaNs or infinities in {} of {} elements", not_finite, elements);
    else if (2 * at_limit > elements)
      made.left_out = "K0's outputs are the largest numbers of their type";
    return {};
  }

  Result<CaseSet> collect() {
    CaseSet set;
    bool guards_are_read = false, always_the_same = true; // by K0 with what the file says
    for (size_t i = 0; i < recipes_.size(); ++i)
      if (!recipes_[i].made_up()) {
        guards_are_read |= made_[i].reads_guards();
        always_the_same &= made_[i].always_the_same();
      }
    std::map<std::string, bool> influence;
    for (size_t i = 0; i < recipes_.size(); ++i) {
      Made& m = made_[i];
      if (m.error && !recipes_[i].made_up()) return std::unexpected(*m.error);
      if (m.error) m.left_out = m.error->message;
      if (m.left_out.empty() && recipes_[i].made_up() && !guards_are_read && m.reads_guards() &&
          (options_.prepare.schedules < 2 || !m.always_the_same()))
        m.left_out = "K0: memory beyond its buffers was read";
      if (m.left_out.empty() && recipes_[i].made_up() && always_the_same && !m.always_the_same())
        m.left_out = "K0 does not always leave the same";
      if (!m.left_out.empty()) {
        // Errors mostly begin with the name of the case, which begins with that of the recipe.
        set.left_out.push_back(m.left_out.starts_with(recipes_[i].name)
                                   ? m.left_out
                                   : fmt::format("{}: {}", recipes_[i].name, m.left_out));
        continue;
      }
      std::ranges::move(m.cases, std::back_inserter(set.cases));
      for (const auto& [input, moves] : m.influence) influence[input] |= moves;
      if (m.all_same && !recipes_[i].made_up())
        set.warnings.push_back(fmt::format("{}: all elements that K0 leaves are the same", recipes_[i].name));
    }
    if (made_[0].more_launches)
      set.warnings.push_back(
          fmt::format("there are more launches: only the first {} are tried", made_[0].cases.size()));
    warn_of_narrow_cases(set);
    for (const auto& [input, moves] : influence)
      if (!moves) set.warnings.push_back(fmt::format("input '{}' changes nothing in what K0 leaves", input));
    return set;
  }

  // What no case of a set can show, as all of them are alike in it.
  void warn_of_narrow_cases(CaseSet& set) const {
    const auto one = [](const auto& c) { return c->dispatch().shape.workgroup_count() <= 1; };
    if (std::ranges::all_of(set.cases, one)) set.warnings.push_back("every case has only one workgroup");
    const bool sizes = std::ranges::any_of(
        recipes_, [&](const CaseRecipe& r) { return !r.sizes.empty() || r.shape != recipes_[0].shape; });
    if (!sizes && !options_.as_given && options_.shape.empty())
      set.warnings.push_back("the launch file has no [sizes]: every case has the same ones");
  }

  const LaunchSpec& spec_;
  std::shared_ptr<const Subject> k0_;
  const CaseSetOptions& options_;
  std::vector<CaseRecipe> recipes_;
  std::vector<Made> made_;
  std::map<std::string, uint64_t> usual_instructions_, usual_bytes_; // of a workgroup, by shape
  std::shared_ptr<FirstContents::Room> room_ =
      std::make_shared<FirstContents::Room>(FirstContents::most_bytes);
  std::atomic<size_t> done_ = 0;
};

} // namespace

std::vector<CaseRecipe> recipes_of(const LaunchSpec& spec, const CaseSetOptions& options) {
  return Recipes(spec, options).make();
}

Result<CaseSet> make_case_set(const LaunchSpec& spec, std::shared_ptr<const Subject> k0,
                              const CaseSetOptions& options) {
  return Maker(spec, std::move(k0), options).run();
}

} // namespace asmevo::oracle
