#include "profile/json_stream.h"

#include <istream>
#include <streambuf>

namespace asmevo::profile {

namespace {

// The source as a stream that ends where a token gets too long: nlohmann's lexer keeps a token whole.
class BoundedBuffer : public std::streambuf {
 public:
  explicit BoundedBuffer(TextSource& source) : source_(source) {}
  bool too_long() const { return too_long_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  int_type underflow() override {
    if (too_long_ || error_) return traits_type::eof();
    const auto piece = source_.piece();
    if (!piece) error_ = piece.error();
    if (!piece || piece->empty()) return traits_type::eof();
    for (const char c : *piece) follow(c);
    if (too_long_) return traits_type::eof();
    char* begin = const_cast<char*>(piece->data()); // streambuf's interface; nobody writes to it
    setg(begin, begin, begin + piece->size());
    return traits_type::to_int_type(*gptr());
  }

  void follow(char c) {
    if (in_string_) {
      in_string_ = escaped_ || c != '"';
      escaped_ = !escaped_ && c == '\\';
    } else if (c == '"') {
      in_string_ = true;
      length_ = 0;
    } else if (std::string_view(" \t\r\n,:[]{}").find(c) != std::string_view::npos) {
      length_ = 0;
    }
    if (++length_ > most_json_token) too_long_ = true;
  }

  TextSource& source_;
  bool in_string_ = false, escaped_ = false, too_long_ = false;
  size_t length_ = 0;
  std::optional<Error> error_;
};

// Follows the path of what is being read, and builds the values whose path a part has.
class Reader : public nlohmann::json_sax<Json> {
 public:
  Reader(std::string name, std::span<const JsonPart> parts) : name_(std::move(name)), parts_(parts) {
    counts_.resize(parts.size());
  }
  const std::optional<Error>& failure() const { return failure_; }

  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(number_integer_t v) override { return value(v); }
  bool number_unsigned(number_unsigned_t v) override { return value(v); }
  bool number_float(number_float_t v, const string_t&) override { return value(v); }
  bool string(string_t& v) override { return value(std::move(v)); }
  bool binary(binary_t&) override { return false; }

  bool start_object(std::size_t) override { return start(Json::object(), false); }
  bool start_array(std::size_t) override { return start(Json::array(), true); }
  bool end_object() override { return end(); }
  bool end_array() override { return end(); }

  bool key(string_t& k) override {
    if (!building_.empty()) {
      key_ = std::move(k);
      return true;
    }
    path_.resize(frames_.back().path);
    if (!path_.empty()) path_ += '.';
    path_.append(k, 0, longest_key);
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception& e) override {
    const std::string_view what = e.what();
    if (what.find("unexpected end of input") != std::string_view::npos)
      return fail(fmt::format("the JSON ends in the middle, at byte {}: the file is cut off", position));
    const size_t detail = what.find("parse error at ");
    return fail(fmt::format("not valid JSON: {}",
                            printable(detail == std::string_view::npos ? what : what.substr(detail), 200)));
  }

 private:
  static constexpr size_t longest_key = 256;
  struct Frame {
    size_t path = 0; // length of the path of what the values in it are appended to
  };

  bool fail(const std::string& what) {
    if (!failure_) failure_ = Error{ErrorKind::BadInput, fmt::format("{}: {}", name_, what)};
    return false;
  }

  std::optional<size_t> part() const {
    for (size_t p = 0; p < parts_.size(); ++p)
      if (parts_[p].path == path_) return p;
    return std::nullopt;
  }

  // Scalars where a part has a list.
  bool no_list(const Json& v) {
    for (const JsonPart& p : parts_) {
      if (p.path.size() != path_.size() + 2 || !p.path.starts_with(path_) || !p.path.ends_with("[]"))
        continue;
      if (v.is_null() && p.if_null.empty()) continue;
      if (v.is_null()) return fail(fmt::format("\"{}\" is null: {}", printable(path_), p.if_null));
      return fail(fmt::format("\"{}\" is not a list", printable(path_)));
    }
    return true;
  }

  bool deliver(size_t p, const Json& v) {
    const uint64_t n = counts_[p]++;
    const Status taken = parts_[p].take(v);
    if (taken) return true;
    std::string label = parts_[p].path;
    if (label.ends_with("[]")) label.insert(label.size() - 1, fmt::format("{}", n));
    if (!failure_) failure_ = taken.error().in(fmt::format("{}: {}", name_, label));
    return false;
  }

  Json* add(Json v) {
    Json& parent = *building_.back();
    if (parent.is_array()) {
      parent.push_back(std::move(v));
      return &parent.back();
    }
    return &(parent[key_] = std::move(v));
  }

  bool value(Json v) {
    if (!building_.empty()) {
      if (++values_ > most_json_part) return fail("a record is too large");
      add(std::move(v));
      return true;
    }
    if (const auto p = part()) return deliver(*p, v);
    return no_list(v);
  }

  bool start(Json v, bool list) {
    if (++depth_ > most_json_depth) return fail(fmt::format("nested deeper than {}", most_json_depth));
    if (!building_.empty()) {
      if (++values_ > most_json_part) return fail("a record is too large");
      building_.push_back(add(std::move(v)));
      return true;
    }
    if (const auto p = part()) {
      part_ = *p;
      values_ = 0;
      root_ = std::move(v);
      building_.push_back(&root_);
      return true;
    }
    if (list) path_ += "[]";
    frames_.push_back({path_.size()});
    return true;
  }

  bool end() {
    --depth_;
    if (!building_.empty()) {
      building_.pop_back();
      if (!building_.empty()) return true;
      if (!deliver(part_, root_)) return false;
    } else {
      frames_.pop_back();
    }
    if (!frames_.empty()) path_.resize(frames_.back().path);
    return true;
  }

  std::string name_;
  std::span<const JsonPart> parts_;
  std::vector<uint64_t> counts_; // values that each part got
  std::vector<Frame> frames_;
  std::string path_, key_;
  size_t depth_ = 0, values_ = 0, part_ = 0;
  Json root_;
  std::vector<Json*> building_; // the value being built, from its root to where it grows
  std::optional<Error> failure_;
};

// Stops at the first key.
class KeyReader : public nlohmann::json_sax<Json> {
 public:
  std::string first;
  bool object = false, broken = false;
  bool null() override { return false; }
  bool boolean(bool) override { return false; }
  bool number_integer(number_integer_t) override { return false; }
  bool number_unsigned(number_unsigned_t) override { return false; }
  bool number_float(number_float_t, const string_t&) override { return false; }
  bool string(string_t&) override { return false; }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return object = true; }
  bool start_array(std::size_t) override { return false; }
  bool end_object() override { return false; }
  bool end_array() override { return false; }
  bool key(string_t& k) override {
    first = k;
    return false;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override {
    broken = true;
    return false;
  }
};

} // namespace

Status read_json(TextSource& source, std::span<const JsonPart> parts) {
  BoundedBuffer buffer(source);
  std::istream stream(&buffer);
  Reader reader(source.name(), parts);
  const bool good = Json::sax_parse(stream, &reader);
  if (buffer.error()) return failed(*buffer.error());
  if (buffer.too_long())
    return bad_input("{}: a string or number of over {} bytes", source.name(), most_json_token);
  if (reader.failure()) return failed(*reader.failure());
  if (!good) return bad_input("{}: not valid JSON", source.name());
  return {};
}

Result<std::string> first_json_key(TextSource& source) {
  BoundedBuffer buffer(source);
  std::istream stream(&buffer);
  KeyReader reader;
  Json::sax_parse(stream, &reader);
  if (buffer.error()) return failed(*buffer.error());
  if (reader.broken || buffer.too_long())
    return bad_input("{}: it begins like JSON, but is none or cut off", source.name());
  if (!reader.object) return bad_input("{}: not a JSON object", source.name());
  return reader.first;
}

const Json* member(const Json& object, std::string_view path) {
  const Json* at = &object;
  while (at->is_object()) {
    const size_t dot = path.find('.');
    const auto found = at->find(path.substr(0, dot));
    if (found == at->end()) return nullptr;
    at = &*found;
    if (dot == std::string_view::npos) return at;
    path.remove_prefix(dot + 1);
  }
  return nullptr;
}

Result<uint64_t> whole_number(const Json& object, std::string_view path) {
  const Json* value = member(object, path);
  if (value == nullptr) return bad_input("no {}", path);
  if (value->is_number_unsigned()) return value->get<uint64_t>();
  if (value->is_boolean()) return value->get<bool>() ? 1 : 0;
  return bad_input("{} is {}, not a whole number", path,
                   printable(value->dump(-1, ' ', true, Json::error_handler_t::replace), 40));
}

std::string text_at(const Json& object, std::string_view path) {
  const Json* value = member(object, path);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

} // namespace asmevo::profile
