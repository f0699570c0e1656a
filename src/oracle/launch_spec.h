// How to run a kernel, as a TOML file says it (docs/launch-spec.md has a complete example): buffers,
// arguments, steps, and named sets of sizes. This is the file's content, checked for form; numbers are still
// expressions. What they come to for one set of sizes is in launch_plan.h.
#pragma once

#include "isa/target.h"
#include "oracle/buffer_init.h"
#include "oracle/expression.h"

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace asmevo::oracle {

/// A number of the file: an expression, a plain number being one too.
struct Expression {
  std::string text;
  unsigned line = 0;
  bool given() const { return !text.empty(); }
};

/// Where a pointer in memory or in the arguments points to: `count` pointers, each `stride` bytes further.
struct PointerSpec {
  unsigned line = 0;
  std::string buffer;
  Expression offset, stride, count; // bytes, bytes, 1
};

struct InitSpec {
  unsigned line = 0;
  std::string kind; // a name of init_kinds()
  std::map<std::string, Expression> numbers;
  std::string text; // file: path; bytes: hex digits
  std::vector<Expression> values;
  std::vector<PointerSpec> pointers;
};

/// What an init kind takes. In `numbers`, a default after '='; without one the number must be given.
struct InitForm {
  std::string_view kind;
  std::vector<std::pair<std::string_view, std::string_view>> numbers;
  std::string_view text; // key of the text it takes, or empty
  bool values = false, pointers = false;
};
const std::vector<InitForm>& init_forms();

enum class Role : uint8_t { In, Out, InOut, Workspace };
std::string_view name(Role);

struct BufferSpec {
  unsigned line = 0;
  std::string name, dtype;
  std::vector<Expression> shape, strides; // in elements
  Role role = Role::In;
  std::optional<InitSpec> init;  // none: poison
  std::optional<uint64_t> seed;  // of random init; none: from the name
  std::optional<uint64_t> guard; // bytes of guard before and behind; none: the default
  std::string allocation;        // empty: one of its own
  std::string alias;             // the buffer whose memory this is another view of
  Expression offset;             // bytes into the allocation or the aliased buffer
};

/// Memory that holds several buffers, one behind another in the file's order unless they say where.
struct AllocationSpec {
  unsigned line = 0;
  std::string name;
  Expression alignment, address; // none: 256, anywhere
};

struct ArgumentSpec {
  enum class Kind : uint8_t { Buffer, Scalar, Bytes, Pointers } kind = Kind::Buffer;
  unsigned line = 0;
  std::string name; // for messages only
  std::string buffer;
  Expression offset; // Buffer: bytes added to its address
  std::string dtype; // Scalar
  Expression value;
  std::string bytes;                 // hex digits
  std::vector<PointerSpec> pointers; // a table in memory; the argument points to it
  Expression at;                     // byte in the kernarg segment; none: behind the one before
};

struct StepSpec {
  enum class Kind : uint8_t { Launch, Memset, Copy, Repeat } kind = Kind::Launch;
  unsigned line = 0;
  // Launch
  std::string kernel;           // empty: the only one
  std::vector<Expression> grid; // workgroups, 1 to 3 numbers...
  bool work_items = false;      // ...or work-items
  std::vector<Expression> workgroup;
  Expression dynamic_lds;
  std::optional<std::vector<ArgumentSpec>> arguments; // none: the file's
  std::map<std::string, Expression> hidden;           // in place of what the ABI gives; added to the file's
  // Memset, Copy
  std::string buffer, to; // memset: buffer; copy: from buffer to `to`
  Expression value, offset, to_offset, bytes;
  // Repeat
  Expression count;
  std::string variable;
  std::vector<StepSpec> steps;
};

struct LaunchSpec {
  std::string file;                 // for messages, and what paths in it are relative to
  std::vector<std::string> targets; // gfx names it is meant for; empty: any
  std::map<std::string, Expression> sizes;
  std::map<std::string, std::map<std::string, Expression>> shapes; // "tiny", "odd.one"
  std::vector<AllocationSpec> allocations;
  std::vector<BufferSpec> buffers;
  std::vector<ArgumentSpec> arguments;
  std::map<std::string, Expression> hidden;
  std::vector<StepSpec> steps;

  /// BadInput: "launch.toml:12: buffer 'x': ..." for what is no TOML, unknown and missing keys, wrong types,
  /// names that nothing has, and files beyond all reason (1 MiB, 1,000 buffers, arguments or steps).
  static Result<LaunchSpec> read(const std::filesystem::path&);
  static Result<LaunchSpec> parse(std::string_view text, std::string file);

  /// TOML that reads back as the same spec.
  std::string write() const;

  /// "launch.toml:12: "
  std::string place(unsigned line) const { return fmt::format("{}:{}", file, line); }
  const BufferSpec* find_buffer(std::string_view) const;
  /// BadInput where it is not meant for the target of `object`, a file's name.
  Status check_target(const isa::Target&, std::string_view object) const;
  /// Some step names the kernel.
  bool launches(std::string_view kernel) const;
};

} // namespace asmevo::oracle
