#include "timing/machine_model.h"

#include "base/files.h"
#include "base/random.h"
#include "base/toml.h"
#include "base/words.h"
#include "timing/builtin_machines.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <vector>

namespace asmevo::timing {

namespace {

using P = Parameter;

constexpr double mebi = 1024.0 * 1024.0;
constexpr double most_error = 0.75;

constexpr std::array<ParameterInfo, parameter_count> table = {{
    {P::xcds, "shape", "xcds", "1", 1, 64, true, "dies that compute; workgroups go to them in turn"},
    {P::cus_per_xcd, "shape", "cus_per_xcd", "1", 1, 256, true, "compute units in use on each"},
    {P::shader_engines_per_xcd, "shape", "shader_engines_per_xcd", "1", 1, 64, true,
     "groups of compute units that get their workgroups one at a time"},
    {P::cus_per_cache, "shape", "cus_per_cache", "1", 1, 8, true,
     "compute units that share an instruction cache and a scalar cache"},
    {P::engine_clock, "clock", "engine", "MHz", 100, 5000, false, "of compute units and L2"},
    {P::matrix_clock, "clock", "matrix", "MHz", 100, 5000, false,
     "what is left of it under matrix instructions, by power"},
    {P::valu_cycles, "issue", "valu", "cycles", 1, 64, false,
     "a wave's vector instruction, and until one that depends on it"},
    {P::fp64_cycles, "issue", "fp64", "cycles", 1, 64, false, "the same for 64-bit floats"},
    {P::packed_f32_cycles, "issue", "packed_f32", "cycles", 1, 64, false, "the same for v_pk_*_f32"},
    {P::trans_cycles, "issue", "trans", "cycles", 1, 256, false, "the same for v_exp, v_rcp and their like"},
    {P::int_mul_cycles, "issue", "int_mul", "cycles", 1, 256, false, "the same for 32-bit multiplications"},
    {P::salu_cycles, "issue", "salu", "cycles", 1, 64, false, "between scalar instructions of a wave"},
    {P::salu_latency, "issue", "salu_latency", "cycles", 1, 64, false, "until one that depends on it"},
    {P::branch_cycles, "issue", "branch", "cycles", 1, 256, false, "from a taken branch to its target"},
    {P::waitcnt_cycles, "issue", "waitcnt", "cycles", 0, 64, false, "an s_waitcnt that waits for nothing"},
    {P::memory_issue_cycles, "issue", "memory", "cycles", 1, 64, false,
     "between memory instructions of a compute unit"},
    {P::icache_bytes, "icache", "bytes", "bytes", 1024, 64 * mebi, true, ""},
    {P::icache_line, "icache", "line", "bytes", 16, 4096, true, ""},
    {P::icache_ways, "icache", "ways", "1", 1, 1024, true, ""},
    {P::icache_miss, "icache", "miss", "cycles", 1, 10000, false, "what a miss that hits L2 costs"},
    {P::scalar_bytes, "scalar", "bytes", "bytes", 1024, 64 * mebi, true, ""},
    {P::scalar_line, "scalar", "line", "bytes", 16, 4096, true, ""},
    {P::scalar_latency, "scalar", "latency", "cycles", 1, 10000, false, "of a hit, s_load to its use"},
    {P::scalar_miss, "scalar", "miss", "cycles", 1, 10000, false, "what a miss that hits L2 costs beside"},
    {P::lds_banks, "lds", "banks", "1", 1, 256, true, "4 bytes wide each"},
    {P::lds_latency, "lds", "latency", "cycles", 1, 10000, false, "of a read of 32 bits without conflict"},
    {P::lds_read_rate, "lds", "read", "bytes/cycle", 1, 4096, false, "of a compute unit"},
    {P::lds_write_rate, "lds", "write", "bytes/cycle", 1, 4096, false, "of a compute unit"},
    {P::l1_bytes, "l1", "bytes", "bytes", 1024, 64 * mebi, true, ""},
    {P::l1_line, "l1", "line", "bytes", 16, 4096, true, ""},
    {P::l1_ways, "l1", "ways", "1", 1, 1024, true, ""},
    {P::l1_latency, "l1", "latency", "cycles", 1, 10000, false, "of a hit"},
    {P::l1_rate, "l1", "read", "bytes/cycle", 1, 4096, false, "of a compute unit, whole lines"},
    {P::l1_misses, "l1", "misses", "1", 1, 4096, false, "lines that a compute unit can wait for at once"},
    {P::l1_fill, "l1", "fill", "bytes/cycle", 1, 4096, false, "from L2 to one compute unit"},
    {P::l2_bytes, "l2", "bytes", "bytes", 65536, 1024 * mebi, true, "of each XCD"},
    {P::l2_channels, "l2", "channels", "1", 1, 256, true, "of each XCD"},
    {P::l2_line, "l2", "line", "bytes", 16, 4096, true, ""},
    {P::l2_ways, "l2", "ways", "1", 1, 1024, true, ""},
    {P::l2_latency, "l2", "latency", "cycles", 1, 10000, false, "of a hit"},
    {P::l2_read_rate, "l2", "read", "bytes/cycle", 1, 65536, false, "of an XCD"},
    {P::l2_write_rate, "l2", "write", "bytes/cycle", 1, 65536, false, "of an XCD"},
    {P::mall_bytes, "mall", "bytes", "bytes", 0, 16384 * mebi, true, "Infinity Cache; 0: none"},
    {P::mall_line, "mall", "line", "bytes", 16, 4096, true, ""},
    {P::mall_latency, "mall", "latency", "cycles", 1, 10000, false, "of a hit"},
    {P::mall_bandwidth, "mall", "bandwidth", "TB/s", 0.01, 1000, false, "of the whole device"},
    {P::hbm_latency, "hbm", "latency", "cycles", 1, 10000, false, "unloaded"},
    {P::hbm_read_bandwidth, "hbm", "read", "TB/s", 0.01, 1000, false, "that is reached"},
    {P::hbm_write_bandwidth, "hbm", "write", "TB/s", 0.01, 1000, false, "that is reached"},
    {P::tlb_miss, "hbm", "tlb_miss", "ns", 0, 10000, false, "what a TLB miss costs beside"},
    {P::workgroup_cycles, "dispatch", "workgroup", "cycles", 0.1, 10000, false,
     "between the starts of two workgroups of one wave on an XCD"},
    {P::wave_start, "dispatch", "wave_start", "cycles", 1, 100000, false,
     "from when a compute unit has room for a workgroup to its first instruction"},
    {P::first_issue, "dispatch", "first_issue", "cycles", 1, 100000, false,
     "from the start of a dispatch to its first instruction"},
    {P::launch_floor, "dispatch", "launch_floor", "us", 0, 1000, false,
     "what an empty launch takes between two events"},
    {P::launch_overlap, "dispatch", "launch_overlap", "us", 0, 1000, false,
     "of the floor, what a short kernel takes no longer for"},
    {P::launch_gap, "dispatch", "launch_gap", "us", 0, 1000, false,
     "what each further launch takes that depends on the one before"},
}};

static_assert([] {
  for (size_t i = 0; i < table.size(); ++i)
    if (static_cast<size_t>(table[i].parameter) != i) return false;
  return true;
}());

class Reader {
 public:
  Reader(const toml::table& root, const std::string& path) : root_(root), path_(path) {}

  template <class... Args>
  std::unexpected<Error> error(unsigned line, fmt::format_string<Args...> format, Args&&... args) const {
    return bad_input("{}:{}: {}", path_, line, fmt::format(format, std::forward<Args>(args)...));
  }

  Result<std::string> text(const toml::table& from, std::string_view key, std::string_view where) const {
    const toml::node* node = from.get(key);
    if (node == nullptr) return error(line_of(from), "{}{} is missing", where, key);
    const auto* value = node->as_string();
    if (value == nullptr || value->get().empty())
      return error(line_of(*node), "{}{} must be text", where, key);
    if (printable(value->get(), whole_text) != value->get())
      return error(line_of(*node), "{}{} has control characters", where, key);
    return value->get();
  }

  Result<MachineModel::Entry> entry(const ParameterInfo& info) const {
    const std::string where = fmt::format("{}: {}: ", info.table, info.key);
    const toml::table* group = root_[info.table].as_table();
    if (group == nullptr) return error(1, "[{}] is missing", info.table);
    const toml::node* node = group->get(info.key);
    if (node == nullptr) return error(line_of(*group), "{}missing ({})", where, info.unit);
    const toml::table* fields = node->as_table();
    if (fields == nullptr)
      return error(line_of(*node), "{}must be {{value = ..., unit = \"{}\", source = \"...\"}}", where,
                   info.unit);
    ASMEVO_CHECK(only(*fields, {"value", "unit", "error", "source"}, where));
    MachineModel::Entry entry;
    ASMEVO_TRY(const std::string unit, text(*fields, "unit", where));
    if (unit != info.unit)
      return error(line_of(*fields), "{}must be in {}, not {}", where, info.unit, printable(unit));
    ASMEVO_TRY(entry.source, text(*fields, "source", where));
    ASMEVO_TRY(entry.value, number(*fields, "value", where, info.least, info.most));
    if (info.whole && entry.value != std::floor(entry.value))
      return error(line_of(*fields), "{}must be a whole number", where);
    if (fields->contains("error")) {
      if (info.whole) return error(line_of(*fields), "{}is certain: it takes no error", where);
      ASMEVO_TRY(entry.error, number(*fields, "error", where, 0, most_error));
    }
    return entry;
  }

  // Keys that no parameter has. Before the parameters are read: of one that is misspelt the wrong key is
  // named, not that the right one is missing.
  Status known_keys() const {
    std::vector<std::string_view> groups;
    for (const ParameterInfo& info : table)
      if (groups.empty() || groups.back() != info.table) groups.push_back(info.table);
    std::vector<std::string_view> top = {"version", "name", "target", "summary"};
    top.insert(top.end(), groups.begin(), groups.end());
    ASMEVO_CHECK(only(root_, top, ""));
    for (const std::string_view name : groups) {
      const toml::table* group = root_[name].as_table();
      if (group == nullptr) continue; // entry() says so
      std::vector<std::string_view> keys;
      for (const ParameterInfo& info : table)
        if (info.table == name) keys.push_back(info.key);
      ASMEVO_CHECK(only(*group, keys, fmt::format("{}: ", name)));
    }
    return {};
  }

 private:
  Status only(const toml::table& from, const std::vector<std::string_view>& known,
              std::string_view where) const {
    for (const auto& [key, value] : from)
      if (std::ranges::find(known, key.str()) == known.end())
        return error(key.source().begin.line, "{}unknown key '{}'{}", where, printable(key.str()),
                     suggestion(key.str(), known));
    return {};
  }

  Result<double> number(const toml::table& from, std::string_view key, std::string_view where, double least,
                        double most) const {
    const toml::node* node = from.get(key);
    if (node == nullptr) return error(line_of(from), "{}{} is missing", where, key);
    double value = 0;
    if (const auto* integer = node->as_integer())
      value = static_cast<double>(integer->get());
    else if (const auto* real = node->as_floating_point())
      value = real->get();
    else
      return error(line_of(*node), "{}{} must be a number", where, key);
    if (!(value >= least && value <= most))
      return error(line_of(*node), "{}{} must be from {} to {}", where, key, least, most);
    return value;
  }

  const toml::table& root_;
  const std::string& path_;
};

} // namespace

std::span<const ParameterInfo, parameter_count> parameter_table() {
  return table;
}

Result<MachineModel> MachineModel::parse(std::string_view text, const std::string& path) {
  ASMEVO_TRY(const toml::table root, parse_toml(text, path));
  const Reader reader(root, path);
  const auto* version = root["version"].as_integer();
  if (version == nullptr || version->get() != 1) return reader.error(1, "version must be 1");
  ASMEVO_CHECK(reader.known_keys());
  MachineModel model;
  ASMEVO_TRY(model.name_, reader.text(root, "name", ""));
  ASMEVO_TRY(model.summary_, reader.text(root, "summary", ""));
  ASMEVO_TRY(const std::string target, reader.text(root, "target", ""));
  const Result<isa::Target> known = isa::Target::from_id(target);
  if (!known)
    return reader.error(line_of(*root.get("target")), "target: {}", printable(known.error().message));
  model.target_ = *known;
  for (const ParameterInfo& info : table) {
    ASMEVO_TRY(model.entries_[static_cast<size_t>(info.parameter)], reader.entry(info));
  }
  return model;
}

Result<MachineModel> MachineModel::read(const std::string& path) {
  ASMEVO_TRY(const Bytes bytes, read_file(path, most_toml_bytes));
  ASMEVO_TRY(MachineModel model, parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path));
  // A copy that keeps its original's name must not pass for it.
  model.name_ += " of " + std::filesystem::path(path).filename().string();
  return model;
}

std::string_view MachineModel::default_name(const isa::Target& target) {
  switch (target.gfx) {
  case isa::Gfx::gfx90a: return "mi250x";
  case isa::Gfx::gfx942: return "mi300x";
  case isa::Gfx::gfx950: return "mi355x";
  }
  return "";
}

Result<MachineModel> MachineModel::for_target(const std::string& name_or_path, const isa::Target& target) {
  ASMEVO_TRY(MachineModel model,
             find(name_or_path.empty() ? std::string(default_name(target)) : name_or_path));
  if (model.target().gfx != target.gfx)
    return unsupported("machine model {} is a {}, the code is for {}", model.name(), model.target().name(),
                       target.name());
  return model;
}

Result<MachineModel> MachineModel::find(const std::string& name_or_path) {
  for (const BuiltinMachine& machine : builtin_machines)
    if (machine.name == name_or_path)
      return parse(machine.text, fmt::format("machines/{}.toml", machine.name));
  std::error_code error;
  const bool is_file =
      name_or_path.find('/') != std::string::npos || std::filesystem::exists(name_or_path, error);
  if (is_file) return read(name_or_path);
  return bad_input("no machine model is called '{}', nor is a file: there are {}, or give a file",
                   printable(name_or_path), fmt::join(names(), ", "));
}

std::span<const std::string_view> MachineModel::names() {
  static const auto list = [] {
    std::array<std::string_view, std::size(builtin_machines)> names;
    std::ranges::transform(builtin_machines, names.begin(), &BuiltinMachine::name);
    std::ranges::sort(names);
    return names;
  }();
  return list;
}

Machine MachineModel::nominal() const {
  Machine machine;
  for (const ParameterInfo& info : table) machine[info.parameter] = entry(info.parameter).value;
  return machine;
}

Machine MachineModel::draw(uint64_t seed) const {
  Machine machine = nominal();
  RandomStream random(seed);
  // One number for each, certain or not: what is drawn for one does not depend on which others are certain.
  for (const ParameterInfo& info : table) {
    const double even = static_cast<double>(random.next() >> 11) * 0x1p-52 - 1; // -1 to 1
    const double value = machine[info.parameter] * (1 + even * entry(info.parameter).error);
    if (entry(info.parameter).error != 0) machine[info.parameter] = std::clamp(value, info.least, info.most);
  }
  return machine;
}

} // namespace asmevo::timing
