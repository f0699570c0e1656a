// What the verbs use of CLI11, without its headers: each file that includes those takes seconds longer to
// compile, and compiles the library's own functions once more.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace asmevo::cli {

/// Numbers that an option takes, both ends counted. The help shows them.
struct Range {
  Range(int least, int most);
  Range(uint64_t least, uint64_t most);

  struct Signed {
    int least, most;
  };
  struct Unsigned {
    uint64_t least, most;
  };
  std::variant<Signed, Unsigned> ends;
};

/// Words that an option takes.
struct OneOf {
  std::vector<std::string> words;
};

/// One option of a verb. The functions are CLI11's, and return this option.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option* required();
  Option* type_name(const std::string&);
  Option* capture_default_str();
  Option* delimiter(char);
  Option* expected(int);
  Option* expected(int least, int most);
  Option* check(const Range&);
  Option* check(const OneOf&);
  Option* needs(const Option*);
  Option* excludes(const Option*);
  Option* excludes(const std::string& name);

 private:
  CLI::Option* option_;
};

/// A verb, or one of a verb's own. It owns its options.
class Verb {
 public:
  explicit Verb(CLI::App& app);
  ~Verb();
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  /// Of the types that parser.cpp lists.
  template <class T>
  Option* add_option(const std::string& name, T& value, const std::string& description);
  Option* add_flag(const std::string& name, bool& value, const std::string& description);
  Verb* add_subcommand(const std::string& name, const std::string& description);
  void require_subcommand(int count);
  void hide(); // in no help
  void footer(const std::string&);
  void callback(std::function<void()>);

 private:
  CLI::App* app_;
  std::vector<std::unique_ptr<Option>> options_;
  std::vector<std::unique_ptr<Verb>> verbs_;
};

} // namespace asmevo::cli
