#include "cli/unimplemented.h"

#include "cli/load.h"
#include "emulator/opcode_table.h"
#include "isa/mnemonics.h"

#include <fmt/ranges.h>

#include <map>
#include <set>

namespace asmevo::cli {

namespace {

using Json = nlohmann::ordered_json;

struct Missing {
  isa::Family family = isa::Family::Data;
  std::set<std::string> where; // targets
  uint64_t times = 0;          // in a code object
};

class Survey {
 public:
  Status all_of(const std::string& target) {
    ASMEVO_TRY(const isa::Target wanted, isa::Target::from_id(target));
    ASMEVO_TRY(const auto codec, isa::Codec::create(wanted));
    for (const isa::Mnemonic& m : isa::mnemonics_of(*codec)) {
      known_.emplace(m.base);
      if (emulator::implements(m.base)) continue;
      Missing& missing = missing_[std::string(m.base)];
      missing.family = m.family;
      missing.where.emplace(wanted.name());
    }
    return {};
  }

  Status object(const std::string& file, const std::string& target) {
    Codecs codecs;
    ASMEVO_TRY(const Loaded loaded, load_program(file, target, codecs));
    const program::Program& program = loaded.original.program();
    for (const program::Entry& entry : program.entries) {
      const isa::Instruction& i = *entry.instruction;
      if (i.is_data()) continue;
      known_.emplace(i.base_mnemonic);
      if (emulator::find_handler(i) != nullptr) continue;
      Missing& missing = missing_[std::string(i.base_mnemonic)];
      missing.family = i.family;
      missing.where.emplace(program.target.name());
      ++missing.times;
    }
    return {};
  }

  Answer finish(bool json) const {
    size_t graphics = 0;
    for (const auto& [mnemonic, missing] : missing_) graphics += isa::is_graphics(missing.family) ? 1 : 0;
    const size_t compute = missing_.size() - graphics;
    if (json) {
      print_json({{"mnemonics", known_.size()},
                  {"unimplemented", list(false)},
                  {"unimplemented_graphics", list(true)}});
    } else {
      print(false);
      if (graphics != 0) fmt::print("images, interpolation, export:\n");
      print(true);
      fmt::print("{} mnemonics, {} unimplemented, besides {} for graphics\n", known_.size(), compute,
                 graphics);
    }
    return compute == 0 ? Answer::Yes : Answer::No;
  }

 private:
  void print(bool graphics) const {
    for (const auto& [mnemonic, missing] : missing_) {
      if (isa::is_graphics(missing.family) != graphics) continue;
      fmt::print("  {:<36} {:<7} {}", mnemonic, isa::name(missing.family), fmt::join(missing.where, " "));
      if (missing.times != 0) fmt::print(", {} times", missing.times);
      fmt::print("\n");
    }
  }
  Json list(bool graphics) const {
    Json entries = Json::array();
    for (const auto& [mnemonic, missing] : missing_) {
      if (isa::is_graphics(missing.family) != graphics) continue;
      Json entry = {
          {"mnemonic", mnemonic}, {"family", isa::name(missing.family)}, {"targets", missing.where}};
      if (missing.times != 0) entry["times"] = missing.times;
      entries.push_back(std::move(entry));
    }
    return entries;
  }

  std::set<std::string> known_;
  std::map<std::string, Missing> missing_;
};

} // namespace

Result<Answer> list_unimplemented(const std::string& file, const std::string& target, bool json) {
  Survey survey;
  if (!file.empty()) {
    ASMEVO_CHECK(survey.object(file, target));
  } else {
    const std::vector<std::string> targets =
        target.empty() ? std::vector<std::string>{"gfx90a", "gfx942", "gfx950"} : std::vector{target};
    for (const std::string& t : targets) ASMEVO_CHECK(survey.all_of(t));
  }
  return survey.finish(json);
}

} // namespace asmevo::cli
