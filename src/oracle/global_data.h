// What a code object keeps in memory of its own: device variables, in sections that kernels may write. A host
// program reads and writes them by name, and they stay from launch to launch. Code objects of one interface
// have the same ones; they may lie elsewhere.
#pragma once

#include "codeobject/code_object.h"
#include "emulator/address_space.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace asmevo::oracle {

struct GlobalSection {
  std::string name;
  uint64_t address = 0, size = 0; // in guest memory
};

/// Of an object whose addresses are `bias` less than guest addresses.
std::vector<GlobalSection> global_sections(const codeobject::CodeObject&, uint64_t bias);

/// The same of one run: where they are, and what they were when the object was loaded.
struct GlobalData {
  std::vector<GlobalSection> sections;
  std::shared_ptr<const emulator::AddressSpace> loaded; // null where there are none
  const GlobalSection* find(std::string_view name) const;
  const GlobalSection* at(uint64_t address) const;
};

/// Bytes that are not what was loaded.
struct GlobalChange {
  std::string section;
  uint64_t offset = 0;
  Bytes bytes;
};
Result<std::vector<GlobalChange>> changed_globals(const GlobalData&, const emulator::AddressSpace& now);
Status set_globals(const GlobalData&, const std::vector<GlobalChange>&, emulator::AddressSpace&);

/// Calls f(address in a, byte of a, of b, of a as loaded) for each byte that one of two runs has changed and
/// that differs, until f says false. What neither has changed may differ: addresses in the object itself.
struct GlobalsOfRun {
  const GlobalData& data;
  const emulator::AddressSpace& memory;
  const std::vector<emulator::AddressSpace::Range>& written;
};
using DifferentGlobal = std::function<bool(uint64_t address, uint8_t a, uint8_t b, uint8_t loaded)>;
Status each_different_global(const GlobalsOfRun& a, const GlobalsOfRun& b, const DifferentGlobal& f);

} // namespace asmevo::oracle
