#include "cli/parser.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <utility>

namespace asmevo::cli {

Range::Range(int least, int most) : ends(Signed{least, most}) {}
Range::Range(uint64_t least, uint64_t most) : ends(Unsigned{least, most}) {}

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}

Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}

Option* Option::delimiter(char c) {
  option_->delimiter(c);
  return this;
}

Option* Option::expected(int count) {
  option_->expected(count);
  return this;
}

Option* Option::expected(int least, int most) {
  option_->expected(least, most);
  return this;
}

Option* Option::check(const Range& range) {
  std::visit([this](auto ends) { option_->check(CLI::Range(ends.least, ends.most)); }, range.ends);
  return this;
}

Option* Option::check(const OneOf& choice) {
  option_->check(CLI::IsMember(choice.words));
  return this;
}

Option* Option::needs(const Option* other) {
  option_->needs(other->option_);
  return this;
}

Option* Option::excludes(const Option* other) {
  option_->excludes(other->option_);
  return this;
}

Option* Option::excludes(const std::string& name) {
  option_->excludes(name);
  return this;
}

Verb::Verb(CLI::App& app) : app_(&app) {}
Verb::~Verb() = default;

template <class T>
Option* Verb::add_option(const std::string& name, T& value, const std::string& description) {
  return options_.emplace_back(std::make_unique<Option>(*app_->add_option(name, value, description))).get();
}

template Option* Verb::add_option(const std::string&, std::string&, const std::string&);
template Option* Verb::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option* Verb::add_option(const std::string&, std::vector<std::filesystem::path>&,
                                  const std::string&);
template Option* Verb::add_option(const std::string&, uint32_t&, const std::string&);
template Option* Verb::add_option(const std::string&, uint64_t&, const std::string&);
template Option* Verb::add_option(const std::string&, double&, const std::string&);
template Option* Verb::add_option(const std::string&, std::optional<uint32_t>&, const std::string&);
template Option* Verb::add_option(const std::string&, std::optional<uint64_t>&, const std::string&);

Option* Verb::add_flag(const std::string& name, bool& value, const std::string& description) {
  return options_.emplace_back(std::make_unique<Option>(*app_->add_flag(name, value, description))).get();
}

Verb* Verb::add_subcommand(const std::string& name, const std::string& description) {
  return verbs_.emplace_back(std::make_unique<Verb>(*app_->add_subcommand(name, description))).get();
}

void Verb::require_subcommand(int count) {
  app_->require_subcommand(count);
}

void Verb::hide() {
  app_->group("");
}

void Verb::footer(const std::string& text) {
  app_->footer(text);
}

void Verb::callback(std::function<void()> what) {
  app_->callback(std::move(what));
}

} // namespace asmevo::cli
