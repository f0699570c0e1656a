#include "infer/value_types.h"

#include <algorithm>
#include <vector>

namespace asmevo::infer {

namespace {

struct TypeName {
  std::string_view token;
  ValueType type;
};

// Words of mnemonics that name a type. 24-bit integers are handed over in 32 bits.
constexpr TypeName type_names[] = {
    {"f64", ValueType::F64},   {"f32", ValueType::F32},  {"xf32", ValueType::F32},  {"f16", ValueType::F16},
    {"bf16", ValueType::Bf16}, {"fp8", ValueType::Fp8},  {"bf8", ValueType::Bf8},   {"fp6", ValueType::Fp6},
    {"bf6", ValueType::Bf6},   {"fp4", ValueType::Fp4},  {"i64", ValueType::I64},   {"u64", ValueType::U64},
    {"i32", ValueType::I32},   {"u32", ValueType::U32},  {"i24", ValueType::I32},   {"u24", ValueType::U32},
    {"i16", ValueType::I16},   {"u16", ValueType::U16},  {"i8", ValueType::I8},     {"u8", ValueType::U8},
    {"i4", ValueType::I4},     {"u4", ValueType::U4},    {"ubyte0", ValueType::U8}, {"ubyte1", ValueType::U8},
    {"ubyte2", ValueType::U8}, {"ubyte3", ValueType::U8}};

std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> tokens;
  while (!text.empty()) {
    const size_t end = std::min(text.find('_'), text.size());
    tokens.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return tokens;
}

std::vector<ValueType> types_in(std::string_view mnemonic) {
  std::vector<ValueType> types;
  for (const std::string_view token : tokens_of(mnemonic))
    for (const TypeName& name : type_names)
      if (token == name.token) types.push_back(name.type);
  return types;
}

ValueUse all(Operation operation, ValueType source, ValueType result) {
  ValueUse use{operation, {}, result};
  use.source.fill(source);
  return use;
}

// Element types by the codes in cbsz and blgp of the f8f6f4 instructions (CDNA4 ISA, 7.2).
ValueType small_float(unsigned code) {
  constexpr ValueType types[] = {ValueType::Fp8, ValueType::Bf8, ValueType::Fp6, ValueType::Bf6,
                                 ValueType::Fp4};
  return code < std::size(types) ? types[code] : ValueType::None;
}

// v_mfma_f32_32x32x8_bf16, v_mfma_f32_32x32x4bf16_1k: accumulators have the first type, A and B what stands
// behind the sizes.
ValueUse matrix_use(const isa::Instruction& i) {
  ValueUse use;
  use.operation = Operation::Compute;
  const std::string_view text = i.base_mnemonic;
  const auto types = types_in(text);
  use.result = use.source[2] = types.empty() ? ValueType::None : types.front();
  if (text.find("f8f6f4") != std::string_view::npos) {
    use.source[0] = small_float(i.mods.cbsz);
    use.source[1] = small_float(i.mods.blgp);
    return use;
  }
  std::vector<ValueType> elements;
  bool behind_result = false;
  for (const std::string_view token : tokens_of(text)) {
    // The longest type that the word ends with: "8bf16" is bf16, not f16.
    const TypeName* best = nullptr;
    for (const TypeName& name : type_names)
      if (token.ends_with(name.token) && (best == nullptr || name.token.size() > best->token.size()))
        best = &name;
    if (best != nullptr && behind_result) elements.push_back(best->type);
    behind_result |= best != nullptr;
  }
  if (elements.empty()) return use;
  use.source[0] = elements.front();
  use.source[1] = elements.back();
  return use;
}

// v_fma_mix_f32, v_fma_mixlo_f16: each source is f16 where op_sel_hi says so, else f32.
ValueUse mixed_use(const isa::Instruction& i) {
  ValueUse use;
  use.operation = Operation::Compute;
  for (unsigned s = 0; s < 3; ++s)
    use.source[s] = (i.mods.op_sel_hi >> s & 1) != 0 ? ValueType::F16 : ValueType::F32;
  use.result = i.base_mnemonic.ends_with("f16") ? ValueType::F16 : ValueType::F32;
  return use;
}

ValueUse conversion_use(std::string_view mnemonic, const std::vector<ValueType>& types) {
  ValueUse use;
  use.operation = Operation::Compute;
  if (types.empty()) return use;
  use.result = types.front();
  use.source[0] = types.back();
  const bool scaled = mnemonic.find("scalef32") != std::string_view::npos;
  const bool stochastic = mnemonic.find("_sr_") != std::string_view::npos;
  if (mnemonic.find("pk") != std::string_view::npos && !scaled && !stochastic &&
      mnemonic != "v_cvt_pk_u8_f32")
    use.source[1] = types.back();
  if (scaled && mnemonic.find("2xpk16") != std::string_view::npos) use.source[1] = types.back();
  return use;
}

bool has_word(std::string_view mnemonic, std::initializer_list<std::string_view> words) {
  return std::ranges::any_of(tokens_of(mnemonic), [&](std::string_view token) {
    return std::ranges::find(words, token) != words.end();
  });
}

bool is_move(std::string_view m) {
  return has_word(m, {"mov", "movk", "cmov", "cmovk", "readlane", "readfirstlane", "writelane", "cselect",
                      "cndmask", "accvgpr", "swap", "permlane16", "permlane32", "movreld", "movrels",
                      "swaprel"});
}

bool is_bit_operation(std::string_view m) {
  return has_word(m, {"and",     "or",      "xor",     "not",      "andn2",     "orn2", "nand",
                      "nor",     "xnor",    "bfi",     "bfe",      "lshl",      "lshr", "ashr",
                      "lshlrev", "lshrrev", "ashrrev", "alignbit", "alignbyte", "perm", "or3",
                      "pack",    "bitop3",  "bfm",     "bfrev",    "brev",      "sext", "wqm"}) &&
         !has_word(m, {"add", "saveexec"});
}

// Integer sums: what addresses are made of.
bool is_sum(std::string_view m) {
  return has_word(m, {"add", "addc", "sub", "subb", "subrev", "subbrev", "add3", "xad", "addk", "lshl1",
                      "lshl2", "lshl3", "lshl4"});
}

} // namespace

bool is_float(ValueType t) {
  return t >= ValueType::F64 && t <= ValueType::Fp4;
}
bool is_integer(ValueType t) {
  return t >= ValueType::I64 && t <= ValueType::U4;
}

unsigned bits_of(ValueType t) {
  switch (t) {
  case ValueType::None: return 0;
  case ValueType::F64:
  case ValueType::I64:
  case ValueType::U64:
  case ValueType::Pointer: return 64;
  case ValueType::F32:
  case ValueType::I32:
  case ValueType::U32: return 32;
  case ValueType::F16:
  case ValueType::Bf16:
  case ValueType::I16:
  case ValueType::U16: return 16;
  case ValueType::Fp8:
  case ValueType::Bf8:
  case ValueType::I8:
  case ValueType::U8: return 8;
  case ValueType::Fp6:
  case ValueType::Bf6: return 6;
  case ValueType::Fp4:
  case ValueType::I4:
  case ValueType::U4: return 4;
  }
  return 0;
}

std::string_view dtype_of(ValueType t, isa::Gfx gfx) {
  const bool fnuz = gfx == isa::Gfx::gfx942;
  switch (t) {
  case ValueType::None: return "opaque";
  case ValueType::F64: return "f64";
  case ValueType::F32: return "f32";
  case ValueType::F16: return "f16";
  case ValueType::Bf16: return "bf16";
  case ValueType::Fp8: return fnuz ? "fp8_e4m3fnuz" : "fp8_e4m3";
  case ValueType::Bf8: return fnuz ? "fp8_e5m2fnuz" : "fp8_e5m2";
  case ValueType::Fp6: return "fp6_e2m3";
  case ValueType::Bf6: return "fp6_e3m2";
  case ValueType::Fp4: return "fp4_e2m1";
  case ValueType::I64: return "i64";
  case ValueType::U64: return "u64";
  case ValueType::I32: return "i32";
  case ValueType::U32: return "u32";
  case ValueType::I16: return "i16";
  case ValueType::U16: return "u16";
  case ValueType::I8: return "i8";
  case ValueType::U8: return "u8";
  case ValueType::I4: return "i4";
  case ValueType::U4: return "u4";
  case ValueType::Pointer: return "ptr";
  }
  return "opaque";
}

ValueType atomic_type(const isa::Instruction& i) {
  if (!i.memory.atomic) return ValueType::None;
  const auto types = types_in(i.base_mnemonic);
  if (!types.empty()) return types.front();
  // Only minima and maxima know a sign.
  const bool is_unsigned = has_word(i.base_mnemonic, {"umin", "umax"});
  if (i.base_mnemonic.ends_with("_x2")) return is_unsigned ? ValueType::U64 : ValueType::I64;
  return is_unsigned ? ValueType::U32 : ValueType::I32;
}

ValueUse value_use(const isa::Instruction& i) {
  const std::string_view m = i.base_mnemonic;
  if (m.starts_with("v_mfma") || m.starts_with("v_smfmac")) return matrix_use(i);
  if (m.find("_mix") != std::string_view::npos) return mixed_use(i);
  if (i.memory.kind != isa::MemoryKind::None || i.family == isa::Family::Sopp) return {};
  const auto types = types_in(m);
  if (m.starts_with("v_cvt")) return conversion_use(m, types);
  if (is_move(m)) {
    ValueUse use{Operation::Move, {}, ValueType::None};
    return use;
  }
  const bool pack_f16 = m == "v_pack_b32_f16";
  if (is_bit_operation(m)) return {Operation::Bits, {}, pack_f16 ? ValueType::F16 : ValueType::None};
  if (types.empty()) return {};
  if (m.find("_cmp") != std::string_view::npos) {
    ValueUse use = all(Operation::Compute, types.back(), ValueType::None);
    if (m.find("_class") != std::string_view::npos) use.source[1] = ValueType::None;
    return use;
  }
  if (m.find("_dot") != std::string_view::npos) {
    ValueUse use = all(Operation::Compute, types.back(), types.front());
    use.source[2] = types.front();
    return use;
  }
  ValueUse use = all(is_sum(m) && is_integer(types.back()) ? Operation::Add : Operation::Compute,
                     types.back(), types.front());
  if (m.find("ldexp") != std::string_view::npos || m.find("trig_preop") != std::string_view::npos)
    use.source[1] = ValueType::None;
  if (types.size() > 1 && m.find("_mad_") != std::string_view::npos) use.source[2] = types.front();
  if (m == "v_lshl_add_u64") use.source[1] = ValueType::None;
  return use;
}

} // namespace asmevo::infer
