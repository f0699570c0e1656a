// Rules tried on assembly: what they make of a text, and whether what they made does the same on random
// inputs.
#pragma once

#include "base/random.h"
#include "emulator/assembled_kernel.h"
#include "profile/kernel_code.h"
#include "search/rules/rule_list.h"

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace asmevo::search::testing {

using emulator::KernelOptions;

inline KernelOptions on(const std::string& gpu) {
  KernelOptions options;
  options.gpu = gpu;
  return options;
}

/// A kernel "k" of this text, ready for rules.
class Assembled {
 public:
  explicit Assembled(const std::string& text, const KernelOptions& options = {}) {
    bytes_ = emulator::assemble_kernel(text, options);
    codec_ = *isa::Codec::create(*isa::Target::from_id(options.gpu));
    auto opened = rebuild::Original::open(bytes_, *codec_);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    original_.emplace(*std::move(opened));
    code_ = *profile::KernelCode::open(*original_, "k");
    const size_t size = code_->function().end - code_->function().begin;
    machine_ = timing::MachineModel::for_target("", codec_->target())->nominal();
    context_.emplace(
        RuleContext{*code_, *codec_, machine_, std::vector<double>(size), std::vector<double>(size)});
  }
  Assembled(const Assembled&) = delete;

  const RuleContext& context() const { return *context_; }
  const Bytes& bytes() const { return bytes_; }
  std::vector<Proposal> propose(std::string_view rule) const {
    const Rule* const r = find_rule(rule);
    EXPECT_NE(r, nullptr) << rule;
    return r == nullptr ? std::vector<Proposal>() : r->propose(*context_);
  }

  rebuild::Built built(const Proposal& p) const {
    program::Edit edit;
    edit.kernel = "k", edit.changes = p.changes, edit.resources = p.resources;
    auto made = rebuild::apply_edit(*original_, original_->program(), edit, 1, *codec_);
    EXPECT_TRUE(made) << (made ? "" : made.error().message);
    return made ? *std::move(made) : rebuild::Built();
  }
  /// The kernel's text, a line an instruction; with a proposal applied.
  std::string text(const Proposal* p = nullptr) const {
    const program::Program changed = p == nullptr ? original_->program() : built(*p).program;
    std::string lines;
    const program::Function& f = *changed.find_function("k");
    for (program::Index i = f.begin; i < f.padding; ++i) lines += program::print(changed, i, *codec_) + "\n";
    return lines;
  }

 private:
  Bytes bytes_;
  std::unique_ptr<isa::Codec> codec_;
  std::optional<rebuild::Original> original_;
  std::unique_ptr<const profile::KernelCode> code_;
  timing::Machine machine_;
  std::optional<RuleContext> context_;
};

/// Each work-item of 64 loads words v4 to v7 from the first buffer (16 bytes a work-item), the body runs, and
/// v8 to v11 go to the second. v0 is the work-item, s[8:9] the first buffer.
inline std::string around(std::string_view body) {
  return std::string(
             "s_load_dwordx4 s[8:11], s[0:1], 0x0\nv_lshlrev_b32_e32 v1, 4, v0\ns_waitcnt lgkmcnt(0)\n"
             "global_load_dwordx4 v[4:7], v1, s[8:9]\nv_mov_b32_e32 v8, 0\nv_mov_b32_e32 v9, 0\n"
             "v_mov_b32_e32 v10, 0\nv_mov_b32_e32 v11, 0\ns_waitcnt vmcnt(0)\n") +
         std::string(body) + "\nglobal_store_dwordx4 v1, v[8:11], s[10:11]\ns_endpgm\n";
}

/// What around() leaves, of 64 work-items.
inline std::vector<uint32_t> run_around(const Bytes& object, const std::string& gpu,
                                        const std::vector<uint32_t>& in) {
  auto device = *device::EmulatedDevice::create(*isa::Target::from_id(gpu), {});
  auto parsed = codeobject::CodeObject::parse(object);
  auto module = *device->load(std::make_shared<const codeobject::CodeObject>(*std::move(parsed)));
  const uint64_t from = *device->allocate("in", 1024), to = *device->allocate("out", 1024);
  EXPECT_TRUE(device->write(from, {reinterpret_cast<const uint8_t*>(in.data()), in.size() * 4}));
  device::LaunchArguments a;
  a.kernarg.resize(16);
  std::memcpy(a.kernarg.data(), &from, 8);
  std::memcpy(a.kernarg.data() + 8, &to, 8);
  const auto outcome = device->launch(*module, "k", {{64, 1, 1}, {64, 1, 1}, 0}, a);
  EXPECT_TRUE(outcome && outcome->completed()) << (outcome ? outcome->text : outcome.error().message);
  std::vector<uint32_t> out(256);
  EXPECT_TRUE(device->read(to, {reinterpret_cast<uint8_t*>(out.data()), 1024}));
  return out;
}

inline std::vector<uint32_t> random_floats(RandomStream& random, float low, float high) {
  std::vector<uint32_t> words(256);
  for (uint32_t& w : words)
    w = std::bit_cast<uint32_t>(low + (high - low) * static_cast<float>(random.below(1 << 24)) / (1 << 24));
  return words;
}
inline std::vector<uint32_t> random_words(RandomStream& random) {
  std::vector<uint32_t> words(256);
  for (uint32_t& w : words) w = static_cast<uint32_t>(random.next());
  return words;
}

/// |d| <= 1e-3 max(|expected|, rms), and to the bit where it is no number.
inline void expect_close(const std::vector<uint32_t>& is, const std::vector<uint32_t>& should) {
  double sum = 0;
  for (const uint32_t w : should)
    if (const auto f = static_cast<double>(std::bit_cast<float>(w)); std::isfinite(f)) sum += f * f;
  const double rms = std::sqrt(sum / static_cast<double>(should.size()));
  for (size_t n = 0; n < should.size(); ++n) {
    const double a = std::bit_cast<float>(is[n]), b = std::bit_cast<float>(should[n]);
    if (std::isfinite(b))
      ASSERT_LE(std::abs(a - b), 1e-3 * std::max(std::abs(b), rms)) << n << ": " << a << " for " << b;
    else
      ASSERT_EQ(is[n] & 0x7f800000, should[n] & 0x7f800000) << n;
  }
}

/// Every proposal of a rule for around(body) does the same on random inputs in [low, high]; returns how many
/// there are.
inline size_t check_on_floats(std::string_view rule, std::string_view body, float low, float high,
                              const KernelOptions& base = {}) {
  KernelOptions options = base;
  options.kernarg_bytes = 16;
  const Assembled k(around(body), options);
  RandomStream random(7);
  const auto proposals = k.propose(rule);
  for (const Proposal& p : proposals) {
    const auto object = k.built(p).object;
    for (int round = 0; round < 4; ++round) {
      const auto in = random_floats(random, low, high);
      expect_close(run_around(object, options.gpu, in), run_around(k.bytes(), options.gpu, in));
    }
  }
  return proposals.size();
}
/// To the bit, on random words; where `nans_alike`, NaNs are all alike.
inline size_t check_exactly(std::string_view rule, std::string_view body, const KernelOptions& base = {},
                            bool nans_alike = false) {
  KernelOptions options = base;
  options.kernarg_bytes = 16;
  const Assembled k(around(body), options);
  RandomStream random(11);
  const auto proposals = k.propose(rule);
  for (const Proposal& p : proposals) {
    EXPECT_TRUE(p.same_results || nans_alike);
    const auto object = k.built(p).object;
    for (int round = 0; round < 4; ++round) {
      const auto in = random_words(random);
      auto is = run_around(object, options.gpu, in), should = run_around(k.bytes(), options.gpu, in);
      for (auto* const words : {&is, &should})
        for (uint32_t& w : *words)
          if (nans_alike && std::isnan(std::bit_cast<float>(w))) w = 0x7fc00000;
      EXPECT_EQ(is, should) << k.text(&p);
    }
  }
  return proposals.size();
}

/// The kernel's text with the first proposal of a rule; empty: it has none.
inline std::string applied(std::string_view rule, const std::string& body) {
  const Assembled k(around(body));
  const auto proposals = k.propose(rule);
  return proposals.empty() ? "" : k.text(&proposals[0]);
}
} // namespace asmevo::search::testing
