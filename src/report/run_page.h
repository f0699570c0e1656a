// The parts of a report's page. Each function gives one section, or nothing where there is nothing to say.
// What is written is well-formed as XML, too, so that any parser can check it; there is no script in it.
#pragma once

#include "report/html.h"
#include "report/run_report.h"

namespace asmevo::report {

extern const std::string_view page_style;

// How much of a text from outside is shown.
inline constexpr size_t short_text = 200, long_text = 1200;

// run_page_search.cpp: how it came about
std::string progress_section(const RunReport&);
std::string lineage_section(const RunReport&);
std::string outcomes_section(const RunReport&);
std::string yield_section(const RunReport&);
std::string failures_section(const RunReport&);
// run_page_code.cpp: what was changed
std::string commits_section(const RunReport&);
// run_page_profile.cpp: where the time went
std::string profile_section(const RunReport&);
// run_page_proof.cpp: on what the claim rests, and how to get it again
std::string resources_section(const RunReport&);
std::string cases_section(const RunReport&);
std::string reproduce_section(const RunReport&);

/// `body` under a heading that can be linked to; nothing where it is empty.
std::string section(std::string_view id, std::string_view heading, std::string_view body);
/// "12.3 %", "0.4 %", "0"
std::string percent_text(double share);
/// A bar of that length of the whole.
std::string bar(double share, std::string_view kind);
/// "K0" or "node 7"
std::string version_text(uint32_t node);

} // namespace asmevo::report
