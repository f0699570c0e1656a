// Shell completion scripts, written from the very options the parser knows, so that they cannot fall behind
// it. Words that are no option complete as file names, values of an option with a fixed set as that set.
#include "cli/cli.h"

#include <CLI/CLI.hpp>
#include <fmt/ranges.h>

namespace asmevo::cli {

namespace {

struct OptionWords {
  std::vector<std::string> shorts, longs; // without dashes
  std::string description;
  bool takes_value = false;
  std::vector<std::string> choices; // the values it takes, where they are fixed; else file names are offered
};

struct VerbWords {
  std::string name, description;
  std::vector<OptionWords> options;
  std::vector<std::string> choices; // of its positional argument
};

// CLI11 shows a fixed set of values in the type name: "TEXT:{bash,fish,zsh}".
std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const size_t open = type.find('{'), close = type.find('}');
  if (open == std::string::npos || close == std::string::npos || close < open) return {};
  return CLI::detail::split(type.substr(open + 1, close - open - 1), ',');
}

VerbWords words_of(const CLI::App& app) {
  VerbWords words{app.get_name(), app.get_description(), {}, {}};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) {
      const auto choices = choices_of(*option);
      words.choices.insert(words.choices.end(), choices.begin(), choices.end());
      continue;
    }
    words.options.push_back({option->get_snames(), option->get_lnames(), option->get_description(),
                             option->get_items_expected_max() > 0, choices_of(*option)});
  }
  return words;
}

std::vector<std::string> dashed(const OptionWords& option) {
  std::vector<std::string> names;
  names.reserve(option.longs.size() + option.shorts.size());
  for (const std::string& name : option.longs) names.push_back("--" + name);
  for (const std::string& name : option.shorts) names.push_back("-" + name);
  return names;
}

// In single quotes, for any of the three shells.
std::string quoted(const std::string& text, std::string_view quote_inside = R"('\'')") {
  std::string result = "'";
  for (const char c : text)
    if (c == '\'')
      result += quote_inside;
    else
      result += c;
  return result + "'";
}

std::string bash_case(const VerbWords& verb) {
  std::vector<std::string> names;
  std::string values;
  for (const OptionWords& option : verb.options) {
    const auto dashes = dashed(option);
    names.insert(names.end(), dashes.begin(), dashes.end());
    if (!option.takes_value) continue;
    if (option.choices.empty())
      values += fmt::format("        {}) files=yes ;;\n", fmt::join(dashes, "|"));
    else
      values +=
          fmt::format("        {}) words='{}' ;;\n", fmt::join(dashes, "|"), fmt::join(option.choices, " "));
  }
  const std::string positional =
      verb.choices.empty() ? "files=yes" : fmt::format("words='{}'", fmt::join(verb.choices, " "));
  return fmt::format("    {})\n      case $previous in\n{}        *)\n"
                     "          case $current in -*) words='{}' ;; *) {} ;; esac ;;\n      esac ;;\n",
                     verb.name.empty() ? "''" : verb.name, values, fmt::join(names, " "), positional);
}

std::string bash_script(VerbWords program, const std::vector<VerbWords>& verbs) {
  for (const VerbWords& verb : verbs) program.choices.push_back(verb.name);
  program.name.clear(); // no verb yet
  std::string cases = bash_case(program);
  for (const VerbWords& verb : verbs) cases += bash_case(verb);
  return fmt::format(R"(# bash completion of asmevo
_asmevo() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} verb= words= files= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case ${{COMP_WORDS[i]}} in -*) ;; *) verb=${{COMP_WORDS[i]}}; break ;; esac
  done
  case $verb in
{}  esac
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}}
complete -F _asmevo asmevo
)",
                     cases);
}

// An _arguments specification for each name of an option: '--target[only objects for this
// target]:value:_files'.
std::string zsh_arguments(const VerbWords& verb) {
  std::string lines;
  for (const OptionWords& option : verb.options) {
    std::string description;
    for (const char c : option.description) { // of the specification's own grammar
      if (c == '[' || c == ']' || c == '\\' || c == ':') description += '\\';
      description += c;
    }
    std::string value;
    if (option.takes_value)
      value = option.choices.empty() ? ":value:_files"
                                     : fmt::format(":value:({})", fmt::join(option.choices, " "));
    for (const std::string& name : dashed(option))
      lines += fmt::format("        {} \\\n", quoted(fmt::format("{}[{}]{}", name, description, value)));
  }
  return lines;
}

std::string zsh_script(const VerbWords& program, const std::vector<VerbWords>& verbs) {
  std::string names, cases;
  for (const VerbWords& verb : verbs) {
    names += fmt::format("    {}\n", quoted(verb.name + ":" + verb.description));
    const std::string positional = verb.choices.empty()
                                       ? "'*:file:_files'"
                                       : fmt::format("'*:value:({})'", fmt::join(verb.choices, " "));
    cases += fmt::format("    {})\n      _arguments \\\n{}        {} ;;\n", verb.name, zsh_arguments(verb),
                         positional);
  }
  return fmt::format(R"(#compdef asmevo
# zsh completion of asmevo
_asmevo() {{
  local context state state_descr line
  typeset -A opt_args
  local -a verbs=(
{}  )
  _arguments -C \
{}        '1:verb:->verb' '*::argument:->argument'
  case $state in
    verb) _describe -t verbs verb verbs; return ;;
    argument) ;;
    *) return ;;
  esac
  case $words[1] in
{}  esac
}}
# Autoloaded as _asmevo from a folder of $fpath, or sourced.
if [ "$funcstack[1]" = _asmevo ]; then _asmevo "$@"; else compdef _asmevo asmevo; fi
)",
                     names, zsh_arguments(program), cases);
}

std::string fish_options(const VerbWords& verb, const std::string& condition) {
  std::string lines;
  for (const OptionWords& option : verb.options) {
    lines += fmt::format("complete -c asmevo -n {}", quoted(condition, R"(\')"));
    for (const std::string& name : option.longs) lines += " -l " + name;
    for (const std::string& name : option.shorts) lines += " -s " + name;
    if (!option.choices.empty())
      lines += fmt::format(" -x -a '{}'", fmt::join(option.choices, " "));
    else if (option.takes_value)
      lines += " -r -F";
    lines += fmt::format(" -d {}\n", quoted(option.description, R"(\')"));
  }
  return lines;
}

std::string fish_script(const VerbWords& program, const std::vector<VerbWords>& verbs) {
  std::string script = "# fish completion of asmevo\n";
  script += "complete -c asmevo -n __fish_use_subcommand -f\n";
  script += fish_options(program, "__fish_use_subcommand");
  for (const VerbWords& verb : verbs) {
    script += fmt::format("complete -c asmevo -n __fish_use_subcommand -a {} -d {}\n", verb.name,
                          quoted(verb.description, R"(\')"));
    const std::string inside = "__fish_seen_subcommand_from " + verb.name;
    script += fish_options(verb, inside);
    if (!verb.choices.empty())
      script += fmt::format("complete -c asmevo -n '{}' -f -a '{}'\n", inside, fmt::join(verb.choices, " "));
  }
  return script;
}

} // namespace

void add_completions(Context& context) {
  Verb* verb = add_verb(context, "completions", "Print the completion script of a shell",
                        "asmevo completions bash > ~/.local/share/bash-completion/completions/asmevo");
  auto shell = std::make_shared<std::string>();
  verb->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(OneOf{{"bash", "zsh", "fish"}});
  verb->callback([&context, shell] {
    context.action = [&context, shell]() -> Result<Answer> {
      const VerbWords program = words_of(context.app);
      std::vector<VerbWords> verbs;
      for (const CLI::App* subcommand : context.app.get_subcommands([](const CLI::App*) { return true; }))
        verbs.push_back(words_of(*subcommand));
      const std::string script = *shell == "bash"  ? bash_script(program, verbs)
                                 : *shell == "zsh" ? zsh_script(program, verbs)
                                                   : fish_script(program, verbs);
      if (context.json)
        print_json({{"shell", *shell}, {"script", script}});
      else
        fmt::print("{}", script);
      return Answer::Yes;
    };
  });
}

} // namespace asmevo::cli
