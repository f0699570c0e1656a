// Runs a few instructions on one wave and looks at what they left.
#pragma once

#include "emulator/conformance/snippet.h"

#include <gtest/gtest.h>

#include <string_view>

namespace asmevo::emulator {

using conformance::Snippet;

/// A snippet that must assemble. `gpu`: "gfx90a", "gfx942", "gfx950".
inline Snippet snippet(std::string_view gpu, std::string_view text) {
  auto made = Snippet::assemble(*isa::Target::from_id(gpu), text);
  if (!made) throw std::runtime_error(made.error().message); // fails the test that asked
  return *std::move(made);
}

/// Runs it; a fault fails the test.
inline void run(Snippet& s) {
  s.run();
  EXPECT_FALSE(s.wave().fault) << s.wave().fault.text;
}

} // namespace asmevo::emulator
