// What a folder holds for `optimize`: code objects in any wrapper, each with its launch file where one stands
// beside it, and Triton's cache, whose metadata says how its kernels are launched.
//
//   softmax.gfx942.co   with softmax.gfx942.toml, softmax.toml or launch.toml, the first that is there
//   <hash>/softmax.hsaco   with softmax.json: waves, LDS (Triton's cache)
//
// Of a file with several objects each is one input, and so is each kernel of an object that has several and
// no launch file to choose one. Folders of runs are not looked into.
#pragma once

#include "base/bytes.h"
#include "base/result.h"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace asmevo::search {

struct BatchSelection {
  std::string target;            // only objects for it; empty: for any GPU that asmevo knows
  std::string kernel;            // only this one; empty: all
  std::vector<std::string> only; // patterns of file names ("level1_*"), one of which must fit; none: all
};

struct BatchInput {
  std::string file;        // relative to the folder
  std::string target;      // "gfx942:xnack-"
  std::string kernel;      // edited and launched; empty: the only one, or the launch file's
  std::string object_hash; // empty: it cannot be read
  std::string launch;      // file beside it, relative; empty: none
  std::string launch_hash;
  // From Triton's metadata, for the inference of a launch.
  std::optional<std::array<uint32_t, 3>> workgroup;
  uint32_t dynamic_lds = 0;
  std::optional<Error> broken; // is called a code object and cannot be read as one

  /// "softmax.gfx942", "libx.so.gfx90a_xnack-.scan"
  std::string name() const;
  /// The same object launched in the same way: there is nothing to be won by doing both.
  bool same_as(const BatchInput&) const;

  bool of_several = false; // objects in the file
};

/// In the order of their paths. BadInput: no such folder, or it holds no code object.
Result<std::vector<BatchInput>> find_batch_inputs(const std::filesystem::path& folder, const BatchSelection&);

/// The bytes of its object, as they are now.
Result<Bytes> read_input(const std::filesystem::path& folder, const BatchInput&);

} // namespace asmevo::search
