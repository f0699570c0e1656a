// llc as the oracle for wait states: pairs of instructions in MIR go through its post-RA-hazard-rec pass, and
// the s_nops it puts between them are what it thinks they need.
#pragma once

#include "isa/target.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <utility>
#include <vector>

namespace asmevo::test {

inline constexpr const char* llc = "/usr/lib/llvm-22/bin/llc";

struct Slot {
  char file = 'v'; // v, a, s
  unsigned width = 1;
};

/// A line of hazard_templates.txt.
struct Template {
  std::string name, targets, assembly, mir;
  std::map<char, Slot> slots;
};

inline std::string trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \n"), last = text.find_last_not_of(" \n");
  return first == std::string_view::npos ? "" : std::string(text.substr(first, last - first + 1));
}

inline std::map<char, Slot> slots_of(const std::string& text) {
  std::map<char, Slot> slots;
  for (size_t at = text.find('<'); at != std::string::npos; at = text.find('<', at + 1)) {
    const size_t colon = text.find(':', at);
    slots[text[colon + 1]] = {text[at + 1],
                              static_cast<unsigned>(std::stoul(text.substr(at + 2, colon - at - 2)))};
  }
  return slots;
}

inline std::vector<Template> load_templates() {
  std::ifstream file(ASMEVO_SOURCE_DIR "/tests/isa/hazard_templates.txt");
  std::vector<Template> list;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    std::array<std::string, 4> fields;
    std::istringstream in(line);
    for (size_t k = 0; k < 4; ++k) std::getline(in, fields[k], k == 3 ? '\n' : ';');
    Template t{trim(fields[0]), trim(fields[1]), trim(fields[2]), trim(fields[3]), {}};
    t.slots = slots_of(t.assembly);
    list.push_back(std::move(t));
  }
  return list;
}

using Registers = std::map<char, unsigned>; // first register of each slot

inline std::string register_text(const Slot& slot, unsigned first, bool mir) {
  std::string text;
  if (mir) {
    const std::string file = slot.file == 'v' ? "vgpr" : slot.file == 'a' ? "agpr" : "sgpr";
    for (unsigned k = 0; k < slot.width; ++k) text += (k == 0 ? "$" : "_") + file + std::to_string(first + k);
    return text;
  }
  text = slot.file;
  if (slot.width == 1) return text + std::to_string(first);
  return text + "[" + std::to_string(first) + ":" + std::to_string(first + slot.width - 1) + "]";
}

/// Fills in the slots; `{x|y}` becomes x on gfx90a and y elsewhere.
inline std::string render(const std::string& pattern, const std::map<char, Slot>& slots,
                          const Registers& registers, bool mir, bool gfx90a) {
  std::string text;
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] == '{') {
      const size_t bar = pattern.find('|', at), close = pattern.find('}', at);
      text += gfx90a ? pattern.substr(at + 1, bar - at - 1) : pattern.substr(bar + 1, close - bar - 1);
      at = close;
    } else if (pattern[at] == '<') {
      const char slot = pattern[pattern.find(':', at) + 1];
      text += register_text(slots.at(slot), registers.at(slot), mir);
      at = pattern.find('>', at);
    } else {
      text += pattern[at];
    }
  }
  return text;
}

/// Runs llc on MIR and returns what it prints.
inline std::string run_llc(const std::string& arguments, const std::string& input,
                           const std::string& suffix = "mir") {
  const auto folder = std::filesystem::temp_directory_path();
  const std::string in = (folder / ("asmevo_llc_" + std::to_string(getpid()) + "." + suffix)).string();
  std::ofstream(in) << input;
  std::string output;
  FILE* pipe = popen(
      (std::string(llc) + " -mtriple=amdgcn-amd-amdhsa " + arguments + " " + in + " -o - 2>&1").c_str(), "r");
  if (pipe != nullptr) {
    std::array<char, 65536> buffer{};
    while (const size_t n = fread(buffer.data(), 1, buffer.size(), pipe)) output.append(buffer.data(), n);
    EXPECT_EQ(pclose(pipe), 0) << output.substr(0, 2000);
  }
  std::filesystem::remove(in);
  return output;
}

/// For each sequence of MIR instructions: the wait states llc puts in front of its last one.
inline std::vector<unsigned> llc_wait_states(const isa::Target& target,
                                             const std::vector<std::vector<std::string>>& sequences) {
  std::string input;
  for (size_t k = 0; k < sequences.size(); ++k) {
    input += "---\nname: f" + std::to_string(k) + "\ntracksRegLiveness: false\nbody: |\n  bb.0:\n";
    for (const std::string& line : sequences[k]) input += "    " + line + "\n";
    input += "    S_ENDPGM 0\n...\n";
  }
  // Soft clauses of xnack are no wait states of a pair.
  const std::string output =
      run_llc("-mcpu=" + std::string(target.name()) + " -mattr=-xnack -run-pass=post-RA-hazard-rec", input);
  std::vector<unsigned> states;
  unsigned nops = 0, last = 0;
  bool inside = false;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("name:")) inside = true, nops = last = 0;
    if (!inside || !line.starts_with("    ")) continue;
    const std::string text = trim(line);
    if (text.starts_with("S_NOP ")) {
      nops += static_cast<unsigned>(std::stoul(text.substr(6))) + 1;
    } else if (text.starts_with("S_ENDPGM")) {
      states.push_back(last);
      inside = false;
    } else {
      last = std::exchange(nops, 0U);
    }
  }
  return states;
}

} // namespace asmevo::test
