#include "infer/draft.h"

#include <fmt/format.h>

#include <algorithm>

namespace asmevo::infer {

namespace {

oracle::Expression number(auto value) {
  return {fmt::format("{}", value), 0};
}

oracle::InitSpec init_of(const oracle::Init& init, bool is_float) {
  oracle::InitSpec spec;
  const auto value = [&](double real, int64_t whole) {
    return is_float ? oracle::Expression{fmt::format("{:.1f}", real), 0} : number(whole);
  };
  switch (init.kind) {
  case oracle::InitKind::Uniform:
    spec.kind = "uniform";
    spec.numbers = {{"low", value(init.first, init.whole_first)},
                    {"high", value(init.second, init.whole_second)}};
    break;
  case oracle::InitKind::Integers:
    spec.kind = "integers";
    spec.numbers = {{"low", number(init.whole_first)}, {"high", number(init.whole_second)}};
    break;
  case oracle::InitKind::Sequence:
    spec.kind = "sequence";
    spec.numbers = {{"start", number(0)}, {"step", number(1)}};
    break;
  default:
    spec.kind = "constant";
    spec.numbers = {{"value", number(init.whole_first)}};
    break;
  }
  return spec;
}

oracle::BufferSpec buffer_of(const InferredArgument& a, const RegionContents& contents) {
  oracle::BufferSpec b;
  b.name = a.field.name;
  b.dtype = a.dtype;
  b.role = a.role;
  const auto type = oracle::element_type(a.dtype);
  const uint64_t bits = type ? std::max<uint32_t>(type->bits, 1) : 8;
  const int64_t first = std::min<int64_t>(a.touched.begin, 0);
  const auto bytes = static_cast<uint64_t>(std::max<int64_t>(a.touched.end, 0) - first);
  b.shape = {number(std::max<uint64_t>((bytes * 8 + bits - 1) / bits, 1))};
  if (a.role != oracle::Role::Out) {
    b.init = init_of(contents.init, contents.type.is_float());
    if (type && type->is_opaque()) {
      b.init.emplace();
      b.init->kind = "zeros";
    }
    b.seed = contents.init.seed;
  }
  return b;
}

oracle::ArgumentSpec argument_of(const InferredArgument& a, bool with_place) {
  oracle::ArgumentSpec spec;
  spec.name = a.field.name;
  if (a.field.pointer) {
    spec.kind = oracle::ArgumentSpec::Kind::Buffer;
    spec.buffer = a.field.name;
    if (a.touched.begin < 0) spec.offset = number(-a.touched.begin);
  } else {
    spec.kind = oracle::ArgumentSpec::Kind::Scalar;
    spec.dtype = a.dtype;
    spec.value = {a.value, 0};
  }
  if (with_place) spec.at = number(a.field.offset);
  return spec;
}

// Integer scalars become sizes, so that whoever runs the draft with other ones (asmevo verify does) has a
// name for them.
void name_sizes(oracle::LaunchSpec& spec, std::vector<oracle::ArgumentSpec>& arguments) {
  for (oracle::ArgumentSpec& a : arguments) {
    const auto type = oracle::element_type(a.dtype);
    if (a.kind != oracle::ArgumentSpec::Kind::Scalar || !type || !type->is_integer()) continue;
    const bool number =
        !a.value.text.empty() && a.value.text.find_first_not_of("0123456789") == std::string::npos;
    if (!number || !oracle::is_name(a.name) || spec.sizes.contains(a.name)) continue;
    spec.sizes[a.name] = a.value;
    a.value.text = a.name;
  }
}

std::string comment(std::string_view text) {
  std::string line = "# ";
  for (const char c : text) line += c >= 32 && c < 127 ? c : '?';
  return line + "\n";
}

} // namespace

oracle::LaunchSpec draft_of(const Inference& inference, const std::vector<RegionContents>& contents,
                            const KernargFields& fields, uint32_t dynamic_lds) {
  oracle::LaunchSpec spec;
  // Padding between arguments needs no lines of its own; then the others say where they are.
  const bool with_places = !fields.as_declared() || inference.arguments.size() != fields.fields().size();
  oracle::StepSpec step;
  step.kernel = inference.kernel;
  for (const uint64_t n : inference.grid) step.grid.push_back(number(n));
  for (const uint32_t n : inference.workgroup) step.workgroup.push_back(number(n));
  if (dynamic_lds != 0) step.dynamic_lds = number(dynamic_lds);
  step.arguments.emplace();
  for (const InferredArgument& a : inference.arguments) {
    if (a.field.pointer) spec.buffers.push_back(buffer_of(a, contents[a.field.region]));
    step.arguments->push_back(argument_of(a, with_places));
  }
  // The segment must be whole, whatever is at its end.
  const KernargField* last = fields.fields().empty() ? nullptr : &fields.fields().back();
  if (with_places && last != nullptr && !last->pointer &&
      std::ranges::none_of(inference.arguments,
                           [&](const InferredArgument& a) { return a.field.offset == last->offset; })) {
    oracle::ArgumentSpec rest;
    rest.name = "rest";
    rest.kind = oracle::ArgumentSpec::Kind::Bytes;
    for (uint64_t b = 0; b < last->size; ++b) rest.bytes += "00";
    rest.at = number(last->offset);
    step.arguments->push_back(std::move(rest));
  }
  name_sizes(spec, *step.arguments);
  spec.steps.push_back(std::move(step));
  return spec;
}

std::string Inference::text() const {
  std::string head = comment(fmt::format("Launch of {}, inferred from {} probe runs.", kernel, probes));
  for (const std::string& line : missing) head += comment("To check: " + line);
  for (const std::string& line : notes) head += comment(line);
  // Each argument's evidence stands in front of its buffer or value.
  std::string body = spec.write();
  for (const InferredArgument& a : arguments) {
    const std::string header =
        fmt::format("{}\nname = \"{}\"\n", a.field.pointer ? "[[buffer]]" : "[[step.arg]]", a.field.name);
    const size_t at = body.find(header);
    if (at == std::string::npos) continue;
    std::string lines = comment(fmt::format("{} confidence", infer::name(a.confidence)));
    for (const std::string& e : a.evidence) lines += comment(e);
    body.insert(at, lines);
  }
  return head + body;
}

} // namespace asmevo::infer
