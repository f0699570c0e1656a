// A kernel's profile as a person reads it, and as JSON (docs/profile.md says what each number means).
#pragma once

#include "profile/counter_figures.h"
#include "profile/limiter.h"
#include "profile/loop_bounds.h"
#include "profile/roofline.h"
#include "profile/window_text.h"

namespace asmevo::profile {

/// Everything that is known of one kernel. Without a summary (imported profiles) what it would say is left
/// out, and what comes from the code or a machine model is said to.
struct KernelReport {
  const WindowContext* context = nullptr;
  std::optional<KernelSummary> summary;
  std::vector<CounterFigure> figures; // of the counters of an imported profile
  std::vector<LoopBound> loops;
  std::vector<HotWindow> windows;
};

/// Lines that end in "\n". `window_lines`: of each window.
std::string report_text(const KernelReport&, size_t window_lines);
nlohmann::ordered_json report_json(const KernelReport&);

/// The kernel's listing without the padding behind it, each instruction with its issues and stalls.
std::string annotated_listing(const WindowContext&);
nlohmann::ordered_json annotated_listing_json(const WindowContext&);

} // namespace asmevo::profile
