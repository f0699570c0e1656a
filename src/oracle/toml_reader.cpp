#include "oracle/toml_reader.h"

namespace asmevo::oracle {

namespace {

constexpr size_t most_pointers = 1000;

// Text of a number as expressions have it.
std::string number_text(double value) {
  std::string text = fmt::format("{}", value);
  // A number with a fraction stays one, also where there is none: 2.0 is not the integer 2.
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

} // namespace

Result<std::string> TomlReader::text(std::string_view key, bool required) {
  const toml::node* node = take(key);
  if (node == nullptr) {
    if (required) return error(nullptr, key, "missing");
    return std::string();
  }
  const auto* value = node->as_string();
  if (value == nullptr) return error(node, key, "must be text");
  if (value->get().empty()) return error(node, key, "is empty");
  return value->get();
}

Result<std::string> TomlReader::name(std::string_view key, bool required) {
  ASMEVO_TRY(std::string value, text(key, required));
  if (!value.empty() && !is_name(value))
    return error(take(key), key, "'{}' is no name: letters, digits and '_', at most 64", printable(value));
  return value;
}

Result<Expression> TomlReader::expression(const toml::node& node, std::string_view key) const {
  Expression e{{}, line_of(node)};
  if (const auto* integer = node.as_integer()) {
    e.text = fmt::format("{}", integer->get());
    // The smallest integer has no positive counterpart that expressions could negate.
    if (integer->get() == std::numeric_limits<int64_t>::min()) e.text = "(-9223372036854775807 - 1)";
  } else if (const auto* number = node.as_floating_point()) {
    e.text = number_text(number->get());
    if (!std::isfinite(number->get())) return error(&node, key, "must be finite");
  } else if (const auto* string = node.as_string()) {
    e.text = string->get();
    if (e.text.empty()) return error(&node, key, "an empty expression");
  } else {
    return error(&node, key, "must be a number or an expression in quotes");
  }
  return e;
}

Result<Expression> TomlReader::number(std::string_view key, bool required) {
  const toml::node* node = take(key);
  if (node != nullptr) return expression(*node, key);
  if (required) return error(nullptr, key, "missing");
  return Expression{};
}

Result<std::optional<uint64_t>> TomlReader::natural(std::string_view key, uint64_t most) {
  const toml::node* node = take(key);
  if (node == nullptr) return std::optional<uint64_t>{};
  const auto* value = node->as_integer();
  if (value == nullptr || value->get() < 0 || static_cast<uint64_t>(value->get()) > most)
    return error(node, key, "must be an integer from 0 to {}", most);
  return std::optional(static_cast<uint64_t>(value->get()));
}

Result<std::vector<Expression>> TomlReader::numbers(std::string_view key, bool required, size_t most) {
  std::vector<Expression> list;
  const toml::node* node = take(key);
  if (node == nullptr) {
    if (required) return error(nullptr, key, "missing");
    return list;
  }
  const toml::array* array = node->as_array();
  if (array == nullptr) {
    ASMEVO_TRY(Expression one, expression(*node, key));
    list.push_back(std::move(one));
    return list;
  }
  if (array->size() > most) return error(node, key, "{} entries; {} are the most", array->size(), most);
  for (const toml::node& entry : *array) {
    ASMEVO_TRY(Expression one, expression(entry, key));
    list.push_back(std::move(one));
  }
  return list;
}

Result<std::vector<const toml::table*>> TomlReader::tables(std::string_view key, size_t most) {
  std::vector<const toml::table*> list;
  const toml::node* node = take(key);
  if (node == nullptr) return list;
  const toml::array* array = node->as_array();
  if (array == nullptr) return error(node, key, "must be tables: [[{}]]", printable(key));
  if (array->size() > most) return error(node, key, "{} of them; {} are the most", array->size(), most);
  for (const toml::node& entry : *array) {
    if (entry.as_table() == nullptr) return error(&entry, key, "must be tables: [[{}]]", printable(key));
    list.push_back(entry.as_table());
  }
  return list;
}

Result<std::map<std::string, Expression>> TomlReader::map_of_numbers(std::string_view key) {
  std::map<std::string, Expression> map;
  const toml::node* node = take(key);
  if (node == nullptr) return map;
  const toml::table* table = node->as_table();
  if (table == nullptr) return error(node, key, "must be a table: [{}]", printable(key));
  for (const auto& [k, value] : *table) {
    const std::string inside = fmt::format("{}.{}", key, k.str());
    if (!is_name(k.str())) return error(&value, inside, "no name: letters, digits and '_', at most 64");
    ASMEVO_TRY(Expression e, expression(value, inside));
    map.emplace(k.str(), std::move(e));
  }
  return map;
}

Result<std::vector<PointerSpec>> TomlReader::pointers(std::string_view key) {
  std::vector<PointerSpec> list;
  const toml::node* node = take(key);
  if (node == nullptr) return error(nullptr, key, "missing");
  const toml::array* array = node->as_array();
  if (array == nullptr || array->empty()) return error(node, key, "must be a list of buffers");
  if (array->size() > most_pointers)
    return error(node, key, "{} entries; {} are the most", array->size(), most_pointers);
  for (const toml::node& entry : *array) {
    PointerSpec p;
    p.line = line_of(entry);
    if (const auto* plain = entry.as_string()) {
      p.buffer = plain->get();
    } else if (const toml::table* table = entry.as_table()) {
      TomlReader inside(*table, spec_, fmt::format("{}{}{}", what_, what_.empty() ? "" : ": ", key));
      ASMEVO_TRY(p.buffer, inside.name("buffer", true));
      ASMEVO_TRY(p.offset, inside.number("offset"));
      ASMEVO_TRY(p.stride, inside.number("stride"));
      ASMEVO_TRY(p.count, inside.number("count"));
      ASMEVO_CHECK(inside.finish());
    } else {
      return error(&entry, key, "must be the name of a buffer or a table {{buffer, offset, stride, count}}");
    }
    list.push_back(std::move(p));
  }
  return list;
}

Status TomlReader::finish() const {
  for (const auto& [key, value] : table_)
    if (!asked_.contains(key.str())) return error(&value, key.str(), "unknown key");
  return {};
}

} // namespace asmevo::oracle
