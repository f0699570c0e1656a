// Feeds each file of the folders it is given to a fuzz target, in path order: what the fuzzer once found
// stays found, without a fuzzer. No file at all is a failure: a lost corpus must not look like a passed test.
#include "base/files.h"

#include <fmt/format.h>

#include <cstdio>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  size_t inputs = 0;
  for (int i = 1; i < argc; ++i) {
    const auto files = asmevo::list_files(argv[i]);
    if (!files) {
      fmt::print(stderr, "{}\n", files.error().message);
      return 1;
    }
    for (const auto& file : *files) {
      const auto bytes = asmevo::read_file(file);
      if (!bytes) {
        fmt::print(stderr, "{}\n", bytes.error().message);
        return 1;
      }
      fmt::print("{}\n", file.string()); // the last line names the input that crashed
      std::fflush(stdout);
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes->data()), bytes->size());
      ++inputs;
    }
  }
  fmt::print("{} inputs\n", inputs);
  return inputs > 0 ? 0 : 1;
}
