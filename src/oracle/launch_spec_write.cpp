#include "oracle/launch_spec.h"

namespace asmevo::oracle {

namespace {

// The code point at the start of UTF-8 text, which is taken off.
uint32_t take_code_point(std::string_view& text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const size_t more = first < 0xc0 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  uint32_t code = more == 0 ? first : first & (0x3fU >> more);
  text.remove_prefix(1);
  for (size_t i = 0; i < more && !text.empty(); ++i) {
    code = code << 6 | (static_cast<unsigned char>(text[0]) & 0x3fU);
    text.remove_prefix(1);
  }
  return code;
}

// Launch files are ASCII.
std::string in_quotes(std::string_view text) {
  std::string result = "\"";
  while (!text.empty()) {
    const uint32_t c = take_code_point(text);
    if (c >= 32 && c < 127) {
      if (c == '"' || c == '\\') result += '\\';
      result += static_cast<char>(c);
    } else {
      result += c < 0x10000 ? fmt::format("\\u{:04x}", c) : fmt::format("\\U{:08x}", c);
    }
  }
  return result + "\"";
}

// Plain numbers need no quotes; TOML forbids leading zeros, and has its own ideas about hexadecimal ones.
bool is_plain_number(std::string_view text) {
  const bool negative = text.starts_with('-');
  const std::string_view digits = text.substr(negative ? 1 : 0);
  if (digits.empty() || digits.size() > 18 ||
      digits.find_first_not_of("0123456789.") != std::string_view::npos)
    return false;
  if (negative && digits.find_first_not_of("0.") == std::string_view::npos)
    return false; // integers have no -0
  const size_t point = digits.find('.');
  if (point == std::string_view::npos) return digits.size() == 1 || digits[0] != '0';
  return point > 0 && point + 1 < digits.size() && digits.find('.', point + 1) == std::string_view::npos &&
         (point == 1 || digits[0] != '0');
}

std::string text_of(const Expression& e) {
  return is_plain_number(e.text) ? e.text : in_quotes(e.text);
}

template <class List>
std::string list_of(const List& list) {
  std::string text;
  for (const Expression& e : list) text += (text.empty() ? "" : ", ") + text_of(e);
  return "[" + text + "]";
}

class Writer {
 public:
  std::string take() { return std::move(out_); }

  void header(std::string_view text) { out_ += fmt::format("{}{}\n", out_.empty() ? "" : "\n", text); }
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) out_ += fmt::format("{} = {}\n", key, in_quotes(value));
  }
  void raw(std::string_view key, std::string_view value) { out_ += fmt::format("{} = {}\n", key, value); }
  void number(std::string_view key, const Expression& e) {
    if (e.given()) raw(key, text_of(e));
  }
  void natural(std::string_view key, const std::optional<uint64_t>& value) {
    if (value) raw(key, fmt::format("{}", *value));
  }
  void numbers(const std::map<std::string, Expression>& map) {
    for (const auto& [key, e] : map) number(key, e);
  }

 private:
  std::string out_;
};

std::string inline_table(const std::map<std::string, Expression>& map) {
  std::string text;
  for (const auto& [key, e] : map)
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", key, text_of(e));
  return "{" + text + "}";
}

std::string pointers_of(const std::vector<PointerSpec>& pointers) {
  std::string text;
  for (const PointerSpec& p : pointers) {
    if (!text.empty()) text += ", ";
    if (!p.offset.given() && !p.stride.given() && !p.count.given()) {
      text += in_quotes(p.buffer);
      continue;
    }
    text += "{buffer = " + in_quotes(p.buffer);
    if (p.offset.given()) text += ", offset = " + text_of(p.offset);
    if (p.stride.given()) text += ", stride = " + text_of(p.stride);
    if (p.count.given()) text += ", count = " + text_of(p.count);
    text += "}";
  }
  return "[" + text + "]";
}

std::string init_of(const InitSpec& init) {
  std::string text = "{kind = " + in_quotes(init.kind);
  for (const auto& [key, e] : init.numbers) text += fmt::format(", {} = {}", key, text_of(e));
  if (!init.text.empty())
    text += fmt::format(", {} = {}", init.kind == "file" ? "path" : "hex", in_quotes(init.text));
  if (!init.values.empty()) text += ", values = " + list_of(init.values);
  if (!init.pointers.empty()) text += ", to = " + pointers_of(init.pointers);
  return text + "}";
}

void write_buffer(Writer& out, const BufferSpec& b) {
  out.header("[[buffer]]");
  out.text("name", b.name);
  out.text("dtype", b.dtype);
  out.raw("shape", list_of(b.shape));
  if (!b.strides.empty()) out.raw("strides", list_of(b.strides));
  out.text("role", name(b.role));
  if (b.init) out.raw("init", init_of(*b.init));
  out.natural("seed", b.seed);
  out.natural("guard", b.guard);
  out.text("allocation", b.allocation);
  out.text("alias", b.alias);
  out.number("offset", b.offset);
}

void write_argument(Writer& out, const ArgumentSpec& a, const std::string& table) {
  out.header("[[" + table + "]]");
  out.text("name", a.name);
  out.text("buffer", a.buffer);
  out.number("offset", a.offset);
  out.text("dtype", a.dtype);
  out.number("value", a.value);
  out.text("bytes", a.bytes);
  if (!a.pointers.empty()) out.raw("pointers", pointers_of(a.pointers));
  out.number("at", a.at);
}

void write_step(Writer& out, const StepSpec& s, const std::string& table) {
  out.header("[[" + table + "]]");
  switch (s.kind) {
  case StepSpec::Kind::Launch:
    out.text("kernel", s.kernel);
    out.raw(s.work_items ? "work_items" : "grid", list_of(s.grid));
    out.raw("workgroup", list_of(s.workgroup));
    out.number("dynamic_lds", s.dynamic_lds);
    if (!s.hidden.empty()) out.raw("hidden", inline_table(s.hidden));
    if (s.arguments && s.arguments->empty()) out.raw("arg", "[]");
    if (s.arguments)
      for (const ArgumentSpec& a : *s.arguments) write_argument(out, a, table + ".arg");
    break;
  case StepSpec::Kind::Memset:
    out.text("memset", s.buffer);
    out.number("value", s.value);
    out.number("offset", s.offset);
    out.number("bytes", s.bytes);
    break;
  case StepSpec::Kind::Copy:
    out.text("copy", s.buffer);
    out.text("to", s.to);
    out.number("from_offset", s.offset);
    out.number("to_offset", s.to_offset);
    out.number("bytes", s.bytes);
    break;
  case StepSpec::Kind::Repeat:
    out.number("repeat", s.count);
    out.text("variable", s.variable);
    for (const StepSpec& inside : s.steps) write_step(out, inside, table + ".step");
    break;
  }
}

} // namespace

std::string LaunchSpec::write() const {
  Writer out;
  out.raw("version", "1");
  if (!targets.empty()) {
    std::string list;
    for (const std::string& t : targets) list += (list.empty() ? "" : ", ") + in_quotes(t);
    out.raw("targets", "[" + list + "]");
  }
  if (!sizes.empty()) out.header("[sizes]");
  out.numbers(sizes);
  for (const auto& [shape, its_sizes] : shapes) {
    out.header("[shapes." + shape + "]");
    out.numbers(its_sizes);
  }
  for (const AllocationSpec& a : allocations) {
    out.header("[[allocation]]");
    out.text("name", a.name);
    out.number("align", a.alignment);
    out.number("address", a.address);
  }
  for (const BufferSpec& b : buffers) write_buffer(out, b);
  for (const ArgumentSpec& a : arguments) write_argument(out, a, "arg");
  if (!hidden.empty()) out.header("[hidden]");
  out.numbers(hidden);
  for (const StepSpec& s : steps) write_step(out, s, "step");
  return out.take();
}

} // namespace asmevo::oracle
