#include "program/finding_list.h"

#include <fmt/format.h>

#include <algorithm>

namespace asmevo::program {

namespace {

std::string where(const Program& program, Index i) {
  return fmt::format("{} at {}", program.instruction(i).mnemonic, program.entries[i].id.text());
}

} // namespace

std::string_view register_class(isa::RegUnit u) {
  if (isa::is_vgpr(u)) return "vgpr";
  if (isa::is_agpr(u)) return "agpr";
  if (isa::is_sgpr(u)) return "sgpr";
  if (u == isa::unit::vcc || u == isa::unit::vcc + 1) return "vcc";
  if (u == isa::unit::exec || u == isa::unit::exec + 1) return "exec";
  if (u == isa::unit::m0) return "m0";
  if (u == isa::unit::scc) return "scc";
  return "other";
}

void FindingList::add(Finding finding) {
  if (!seen_.emplace(finding.rule, finding.producer, finding.consumer).second) return;
  finding.consumer_id = program_.entries[finding.consumer].id;
  std::string text = fmt::format("{}: {}", finding.rule, where(program_, finding.consumer));
  if (finding.producer != no_index) {
    finding.producer_id = program_.entries[finding.producer].id;
    text += fmt::format(" after {}", where(program_, finding.producer));
  }
  if (!finding.object.empty()) text += fmt::format(", {}", finding.object);
  if (!finding.missing.empty())
    text += fmt::format(": {} {}", finding.possible ? "possibly missing" : "missing", finding.missing);
  finding.message = std::move(text);
  findings_.push_back(std::move(finding));
}

void FindingList::add(Finding finding, const isa::RegRange& registers) {
  if (registers.count != 0) {
    finding.object = isa::name(registers);
    finding.register_class = register_class(registers.first);
  }
  add(std::move(finding));
}

std::vector<Finding> FindingList::take() {
  std::ranges::sort(findings_, [](const Finding& a, const Finding& b) {
    return std::tie(a.consumer, a.producer, a.rule) < std::tie(b.consumer, b.producer, b.rule);
  });
  return std::move(findings_);
}

} // namespace asmevo::program
