#include "oracle/launch_spec.h"

#include "base/files.h"
#include "isa/target.h"
#include "oracle/toml_reader.h"

#include <algorithm>

namespace asmevo::oracle {

namespace {

constexpr size_t most_entries = 1000;
constexpr size_t most_values = 100'000;
constexpr unsigned most_repeat_depth = 4;
constexpr uint64_t most_guard = 1 << 30;

class SpecReader {
 public:
  SpecReader(const toml::table& root, std::string file) : root_(root) { spec_.file = std::move(file); }

  Result<LaunchSpec> run() {
    TomlReader top(root_, spec_, "");
    ASMEVO_CHECK(read_version(top));
    ASMEVO_CHECK(read_targets(top));
    ASMEVO_TRY(spec_.sizes, top.map_of_numbers("sizes"));
    ASMEVO_CHECK(read_shapes(top));
    ASMEVO_TRY(const auto allocations, top.tables("allocation", most_entries));
    for (const toml::table* t : allocations) ASMEVO_CHECK(read_allocation(*t));
    ASMEVO_TRY(const auto buffers, top.tables("buffer", most_entries));
    for (const toml::table* t : buffers) ASMEVO_CHECK(read_buffer(*t));
    ASMEVO_TRY(const auto arguments, top.tables("arg", most_entries));
    ASMEVO_TRY(spec_.arguments, read_arguments(arguments));
    ASMEVO_TRY(spec_.hidden, top.map_of_numbers("hidden"));
    ASMEVO_TRY(const auto steps, top.tables("step", most_entries));
    if (steps.empty()) return top.error(nullptr, "step", "missing: nothing is to be done");
    ASMEVO_TRY(spec_.steps, read_steps(steps, 0));
    ASMEVO_CHECK(top.finish());
    ASMEVO_CHECK(check_names());
    return std::move(spec_);
  }

 private:
  Status read_version(TomlReader& top) {
    ASMEVO_TRY(const std::optional<uint64_t> version, top.natural("version", 1));
    if (version && *version != 1) return top.error(top.take("version"), "version", "must be 1");
    return {};
  }

  Status read_targets(TomlReader& top) {
    const toml::node* node = top.take("targets");
    if (node == nullptr) return {};
    const toml::array* array = node->as_array();
    if (array == nullptr || array->empty()) return top.error(node, "targets", "must be a list of targets");
    for (const toml::node& entry : *array) {
      const auto* text = entry.as_string();
      const auto target = isa::Target::from_id(text != nullptr ? text->get() : "");
      if (!target) return top.error(&entry, "targets", "must name gfx90a, gfx942 or gfx950");
      spec_.targets.emplace_back(target->name());
    }
    return {};
  }

  // [shapes.tiny] and [shapes.odd.one]: a table that holds tables is a group of shapes.
  Status read_shapes(TomlReader& top) {
    const toml::node* node = top.take("shapes");
    if (node == nullptr) return {};
    if (node->as_table() == nullptr) return top.error(node, "shapes", "must be tables: [shapes.NAME]");
    return read_shape_group(top, *node->as_table(), "", 0);
  }
  Status read_shape_group(TomlReader& top, const toml::table& group, const std::string& prefix,
                          unsigned depth) {
    for (const auto& [k, value] : group) {
      const std::string name = prefix + std::string(k.str());
      const std::string key = "shapes." + name;
      if (!is_name(k.str())) return top.error(&value, key, "no name: letters, digits and '_', at most 64");
      const toml::table* table = value.as_table();
      if (table == nullptr) return top.error(&value, key, "must be a table of sizes");
      const bool holds_tables =
          std::ranges::any_of(*table, [](const auto& e) { return e.second.is_table(); });
      if (holds_tables && depth == 0) {
        ASMEVO_CHECK(read_shape_group(top, *table, name + ".", depth + 1));
        continue;
      }
      if (spec_.shapes.size() >= most_entries)
        return top.error(&value, key, "more than {} shapes", most_entries);
      std::map<std::string, Expression>& sizes = spec_.shapes[name];
      for (const auto& [size, number] : *table) {
        if (!spec_.sizes.contains(std::string(size.str())))
          return top.error(&number, key, "'{}' is not in [sizes]", printable(size.str()));
        ASMEVO_TRY(sizes[std::string(size.str())], top.expression(number, key));
      }
    }
    return {};
  }

  // Reads `name` first, so that later messages say it.
  Result<std::string> take_name(TomlReader& in, std::string_view what) {
    in.rename(std::string(what));
    ASMEVO_TRY(std::string name, in.name("name", true));
    in.rename(fmt::format("{} '{}'", what, name));
    return name;
  }

  Status read_allocation(const toml::table& table) {
    TomlReader in(table, spec_, "");
    AllocationSpec a;
    a.line = in.line();
    ASMEVO_TRY(a.name, take_name(in, "allocation"));
    if (std::ranges::find(spec_.allocations, a.name, &AllocationSpec::name) != spec_.allocations.end())
      return in.error(nullptr, "name", "another allocation has it");
    ASMEVO_TRY(a.alignment, in.number("align"));
    ASMEVO_TRY(a.address, in.number("address"));
    ASMEVO_CHECK(in.finish());
    spec_.allocations.push_back(std::move(a));
    return {};
  }

  Result<Role> read_role(TomlReader& in) {
    ASMEVO_TRY(const std::string text, in.text("role", true));
    for (const Role role : {Role::In, Role::Out, Role::InOut, Role::Workspace})
      if (name(role) == text) return role;
    return in.error(in.take("role"), "role", "'{}' is not in, out, inout or workspace", printable(text));
  }

  Status read_buffer(const toml::table& table) {
    TomlReader in(table, spec_, "");
    BufferSpec b;
    b.line = in.line();
    ASMEVO_TRY(b.name, take_name(in, "buffer"));
    if (spec_.find_buffer(b.name) != nullptr) return in.error(nullptr, "name", "another buffer has it");
    ASMEVO_TRY(b.dtype, in.text("dtype", true));
    if (const auto type = element_type(b.dtype); !type)
      return in.error(in.take("dtype"), "dtype", "{}", type.error().message);
    constexpr size_t most_dimensions = 8;
    ASMEVO_TRY(b.shape, in.numbers("shape", true, most_dimensions));
    ASMEVO_TRY(b.strides, in.numbers("strides", false, most_dimensions));
    ASMEVO_TRY(b.role, read_role(in));
    ASMEVO_TRY(b.alias, in.name("alias", false));
    ASMEVO_TRY(b.allocation, in.name("allocation", false));
    ASMEVO_TRY(b.offset, in.number("offset"));
    constexpr auto most_seed = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    ASMEVO_TRY(b.seed, in.natural("seed", most_seed));
    ASMEVO_TRY(b.guard, in.natural("guard", most_guard));
    ASMEVO_CHECK(read_init(in, b));
    ASMEVO_CHECK(in.finish());
    ASMEVO_CHECK(check_memory(in, b));
    spec_.buffers.push_back(std::move(b));
    return {};
  }

  Status check_memory(const TomlReader& in, const BufferSpec& b) {
    if (!b.alias.empty()) {
      for (const std::string_view key : {"init", "seed", "guard", "allocation"})
        if (in.has(key)) return in.error(nullptr, key, "an alias has none of its own");
      return {};
    }
    if (b.offset.given() && b.allocation.empty())
      return in.error(nullptr, "offset", "only where there is an allocation or alias");
    if (!b.init && (b.role == Role::In || b.role == Role::InOut))
      return in.error(nullptr, "init", "missing: what the kernel reads must come from somewhere");
    return {};
  }

  Status read_init(TomlReader& in, BufferSpec& b) {
    const toml::node* node = in.take("init");
    if (node == nullptr) return {};
    InitSpec init;
    init.line = line_of(*node);
    if (const auto* plain = node->as_string()) {
      toml::table only_kind;
      only_kind.insert("kind", plain->get());
      TomlReader inside(only_kind, spec_, in.what() + ": init");
      ASMEVO_TRY(b.init, read_init_table(inside, std::move(init)));
      return {};
    }
    if (node->as_table() == nullptr)
      return in.error(node, "init", "must be a kind or a table {{kind = ...}}");
    TomlReader inside(*node->as_table(), spec_, in.what() + ": init");
    ASMEVO_TRY(b.init, read_init_table(inside, std::move(init)));
    return {};
  }

  Result<InitSpec> read_init_table(TomlReader& in, InitSpec init) {
    ASMEVO_TRY(init.kind, in.text("kind", true));
    const auto& forms = init_forms();
    const auto form = std::ranges::find(forms, init.kind, &InitForm::kind);
    if (form == forms.end()) {
      std::string known;
      for (const InitForm& f : forms) known += fmt::format(" {}", f.kind);
      return bad_input("{}: {}: kind: unknown kind '{}'; known:{}", spec_.place(init.line), in.what(),
                       printable(init.kind), known);
    }
    for (const auto& [key, fallback] : form->numbers) {
      if (fallback.empty() && !in.has(key))
        return bad_input("{}: {}: {}: missing", spec_.place(init.line), in.what(), key);
      ASMEVO_TRY(Expression e, in.number(key));
      if (e.given()) init.numbers.emplace(key, std::move(e));
    }
    if (!form->text.empty()) {
      ASMEVO_TRY(init.text, in.text(form->text, true));
    }
    if (form->values) {
      ASMEVO_TRY(init.values, in.numbers("values", true, most_values));
      if (init.values.empty())
        return bad_input("{}: {}: values: an empty list", spec_.place(init.line), in.what());
    }
    if (form->pointers) {
      ASMEVO_TRY(init.pointers, in.pointers("to"));
    }
    ASMEVO_CHECK(in.finish());
    return init;
  }

  Result<std::vector<ArgumentSpec>> read_arguments(const std::vector<const toml::table*>& tables) {
    std::vector<ArgumentSpec> list;
    for (const toml::table* t : tables) {
      ASMEVO_TRY(ArgumentSpec a, read_argument(*t, list.size() + 1));
      list.push_back(std::move(a));
    }
    return list;
  }

  Result<ArgumentSpec> read_argument(const toml::table& table, size_t number) {
    TomlReader in(table, spec_, fmt::format("argument {}", number));
    ArgumentSpec a;
    a.line = in.line();
    ASMEVO_TRY(a.name, in.name("name", false));
    if (!a.name.empty()) in.rename(fmt::format("argument {} '{}'", number, a.name));
    ASMEVO_TRY(a.at, in.number("at"));
    const int kinds =
        int{in.has("buffer")} + int{in.has("value")} + int{in.has("bytes")} + int{in.has("pointers")};
    if (kinds != 1)
      return in.error(nullptr, "buffer", "one of buffer, value, bytes and pointers must be given");
    if (in.has("buffer")) {
      ASMEVO_TRY(a.buffer, in.name("buffer", true));
      ASMEVO_TRY(a.offset, in.number("offset"));
    } else if (in.has("value")) {
      a.kind = ArgumentSpec::Kind::Scalar;
      ASMEVO_TRY(a.value, in.number("value"));
      ASMEVO_TRY(a.dtype, in.text("dtype", true));
      const auto type = element_type(a.dtype);
      if (!type) return in.error(in.take("dtype"), "dtype", "{}", type.error().message);
      if (type->bits > 64 || !type->whole_bytes())
        return in.error(in.take("dtype"), "dtype", "no scalar argument has this type");
    } else if (in.has("bytes")) {
      a.kind = ArgumentSpec::Kind::Bytes;
      ASMEVO_TRY(a.bytes, in.text("bytes", true));
    } else {
      a.kind = ArgumentSpec::Kind::Pointers;
      ASMEVO_TRY(a.pointers, in.pointers("pointers"));
    }
    ASMEVO_CHECK(in.finish());
    return a;
  }

  Result<std::vector<StepSpec>> read_steps(const std::vector<const toml::table*>& tables, unsigned depth) {
    std::vector<StepSpec> list;
    for (const toml::table* t : tables) {
      if (++steps_ > most_entries)
        return bad_input("{}: more than {} steps", spec_.place(line_of(*t)), most_entries);
      ASMEVO_TRY(StepSpec s, read_step(*t, depth));
      list.push_back(std::move(s));
    }
    return list;
  }

  Result<StepSpec> read_step(const toml::table& table, unsigned depth) {
    TomlReader in(table, spec_, "step");
    StepSpec s;
    s.line = in.line();
    if (in.has("repeat")) {
      ASMEVO_CHECK(read_repeat(in, s, depth));
    } else if (in.has("memset")) {
      s.kind = StepSpec::Kind::Memset;
      in.rename("step memset");
      ASMEVO_TRY(s.buffer, in.name("memset", true));
      ASMEVO_TRY(s.value, in.number("value", true));
      ASMEVO_TRY(s.offset, in.number("offset"));
      ASMEVO_TRY(s.bytes, in.number("bytes"));
    } else if (in.has("copy")) {
      s.kind = StepSpec::Kind::Copy;
      in.rename("step copy");
      ASMEVO_TRY(s.buffer, in.name("copy", true));
      ASMEVO_TRY(s.to, in.name("to", true));
      ASMEVO_TRY(s.offset, in.number("from_offset"));
      ASMEVO_TRY(s.to_offset, in.number("to_offset"));
      ASMEVO_TRY(s.bytes, in.number("bytes"));
    } else {
      ASMEVO_CHECK(read_launch(in, s));
    }
    ASMEVO_CHECK(in.finish());
    return s;
  }

  Status read_launch(TomlReader& in, StepSpec& s) {
    in.rename("step launch");
    ASMEVO_TRY(s.kernel, in.text("kernel", false));
    if (!s.kernel.empty()) in.rename(fmt::format("step launch of '{}'", printable(s.kernel)));
    s.work_items = in.has("work_items");
    if (s.work_items == in.has("grid"))
      return in.error(nullptr, "grid", "grid (workgroups) or work_items must be given, one of them");
    ASMEVO_TRY(s.grid, in.numbers(s.work_items ? "work_items" : "grid", true, 3));
    ASMEVO_TRY(s.workgroup, in.numbers("workgroup", true, 3));
    if (s.grid.empty() || s.workgroup.empty())
      return in.error(nullptr, s.grid.empty() ? "grid" : "workgroup", "one to three numbers are needed");
    ASMEVO_TRY(s.dynamic_lds, in.number("dynamic_lds"));
    ASMEVO_TRY(s.hidden, in.map_of_numbers("hidden"));
    const bool own = in.has("arg");
    ASMEVO_TRY(const auto tables, in.tables("arg", most_entries));
    if (own) {
      ASMEVO_TRY(s.arguments, read_arguments(tables));
    }
    return {};
  }

  Status read_repeat(TomlReader& in, StepSpec& s, unsigned depth) {
    s.kind = StepSpec::Kind::Repeat;
    in.rename("step repeat");
    if (depth + 1 > most_repeat_depth)
      return in.error(nullptr, "repeat", "nested more than {} deep", most_repeat_depth);
    ASMEVO_TRY(s.count, in.number("repeat"));
    ASMEVO_TRY(s.variable, in.name("variable", false));
    if (spec_.sizes.contains(s.variable))
      return in.error(in.take("variable"), "variable", "'{}' is a size already", s.variable);
    ASMEVO_TRY(const auto tables, in.tables("step", most_entries));
    if (tables.empty()) return in.error(nullptr, "step", "missing: nothing is to be repeated");
    ASMEVO_TRY(s.steps, read_steps(tables, depth + 1));
    return {};
  }

  // --- names that refer to something

  Status known_buffer(const std::string& buffer, unsigned line, std::string_view what) const {
    if (spec_.find_buffer(buffer) != nullptr) return {};
    return bad_input("{}: {}: no buffer is called '{}'", spec_.place(line), what, printable(buffer));
  }
  Status known_buffers(const std::vector<PointerSpec>& pointers, std::string_view what) const {
    for (const PointerSpec& p : pointers) ASMEVO_CHECK(known_buffer(p.buffer, p.line, what));
    return {};
  }

  Status check_names() const {
    for (const BufferSpec& b : spec_.buffers) {
      const std::string what = fmt::format("buffer '{}'", b.name);
      if (!b.allocation.empty() && std::ranges::find(spec_.allocations, b.allocation,
                                                     &AllocationSpec::name) == spec_.allocations.end())
        return bad_input("{}: {}: no allocation is called '{}'", spec_.place(b.line), what, b.allocation);
      if (!b.alias.empty()) ASMEVO_CHECK(check_alias(b, what));
      if (b.init) ASMEVO_CHECK(known_buffers(b.init->pointers, what));
    }
    ASMEVO_CHECK(check_arguments(spec_.arguments));
    return check_steps(spec_.steps);
  }
  Status check_alias(const BufferSpec& b, std::string_view what) const {
    ASMEVO_CHECK(known_buffer(b.alias, b.line, what));
    if (b.alias == b.name || !spec_.find_buffer(b.alias)->alias.empty())
      return bad_input("{}: {}: alias: '{}' is an alias itself", spec_.place(b.line), what, b.alias);
    return {};
  }
  Status check_arguments(const std::vector<ArgumentSpec>& arguments) const {
    for (size_t i = 0; i < arguments.size(); ++i) {
      const ArgumentSpec& a = arguments[i];
      const std::string what = fmt::format("argument {}", i + 1);
      if (a.kind == ArgumentSpec::Kind::Buffer) ASMEVO_CHECK(known_buffer(a.buffer, a.line, what));
      ASMEVO_CHECK(known_buffers(a.pointers, what));
    }
    return {};
  }
  Status check_steps(const std::vector<StepSpec>& steps) const {
    for (const StepSpec& s : steps) {
      if (s.kind == StepSpec::Kind::Memset || s.kind == StepSpec::Kind::Copy)
        ASMEVO_CHECK(known_buffer(s.buffer, s.line, "step"));
      if (s.kind == StepSpec::Kind::Copy) ASMEVO_CHECK(known_buffer(s.to, s.line, "step"));
      if (s.arguments) ASMEVO_CHECK(check_arguments(*s.arguments));
      ASMEVO_CHECK(check_steps(s.steps));
    }
    return {};
  }

  const toml::table& root_;
  LaunchSpec spec_;
  size_t steps_ = 0;
};

} // namespace

const std::vector<InitForm>& init_forms() {
  static const std::vector<InitForm> forms = {
      {"zeros", {}, "", false, false},
      {"ones", {}, "", false, false},
      {"constant", {{"value", ""}}, "", false, false},
      {"uniform", {{"low", "-1"}, {"high", "1"}}, "", false, false},
      {"normal", {{"mean", "0"}, {"deviation", "1"}}, "", false, false},
      {"integers", {{"low", ""}, {"high", ""}}, "", false, false},
      {"sequence", {{"start", "0"}, {"step", "1"}, {"period", "0"}}, "", false, false},
      {"one_hot", {{"value", "1"}}, "", false, false},
      {"permutation", {}, "", false, false},
      {"random_bits", {}, "", false, false},
      {"poison", {}, "", false, false},
      {"values", {}, "", true, false},
      {"expression", {{"value", ""}}, "", false, false},
      {"bytes", {}, "hex", false, false},
      {"file", {{"offset", "0"}}, "path", false, false},
      {"pointers", {}, "", false, true},
  };
  return forms;
}

std::string_view name(Role role) {
  switch (role) {
  case Role::In: return "in";
  case Role::Out: return "out";
  case Role::InOut: return "inout";
  case Role::Workspace: break;
  }
  return "workspace";
}

namespace {

bool any_launches(const std::vector<StepSpec>& steps, std::string_view kernel) {
  return std::ranges::any_of(
      steps, [&](const StepSpec& s) { return s.kernel == kernel || any_launches(s.steps, kernel); });
}

} // namespace

bool LaunchSpec::launches(std::string_view kernel) const {
  return any_launches(steps, kernel);
}

Status LaunchSpec::check_target(const isa::Target& target, std::string_view object) const {
  if (targets.empty() || std::ranges::find(targets, target.name()) != targets.end()) return {};
  return bad_input("{}: targets: for {}; {} is for {}", file, fmt::join(targets, ", "), object,
                   target.name());
}

Result<LaunchSpec> LaunchSpec::read(const std::filesystem::path& path) {
  ASMEVO_TRY(const Bytes bytes, read_file(path, most_toml_bytes));
  return parse(as_text(bytes), path.string());
}

Result<LaunchSpec> LaunchSpec::parse(std::string_view text, std::string file) {
  ASMEVO_TRY(const toml::table root, parse_toml(text, file));
  return SpecReader(root, std::move(file)).run();
}

const BufferSpec* LaunchSpec::find_buffer(std::string_view wanted) const {
  const auto found = std::ranges::find(buffers, wanted, &BufferSpec::name);
  return found == buffers.end() ? nullptr : &*found;
}

} // namespace asmevo::oracle
