#include "oracle/kernarg.h"

#include <algorithm>
#include <cstring>

namespace asmevo::oracle {

namespace {

constexpr int64_t most_kernarg = 1 << 20;
constexpr uint64_t pointer_bytes = 8;

class Builder {
 public:
  Builder(const std::vector<ArgumentSpec>& arguments, const Scope& scope,
          const codeobject::KernelMetadata* kernel, LaunchMemory& memory, std::vector<uint64_t>& tables)
      : arguments_(arguments), scope_(scope), kernel_(kernel), memory_(memory), tables_(tables) {
    if (kernel != nullptr)
      std::ranges::copy_if(kernel->args, std::back_inserter(declared_),
                           [](const auto& a) { return !a.hidden(); });
    placed_ = std::ranges::any_of(arguments, [](const ArgumentSpec& a) { return a.at.given(); });
  }

  Result<Bytes> run() {
    const bool by_metadata = !declared_.empty() && !placed_;
    if (by_metadata && declared_.size() != arguments_.size())
      return bad_input("{}: {} argument{}; kernel '{}' takes {}", memory_.plan().spec.file, arguments_.size(),
                       arguments_.size() == 1 ? "" : "s", kernel_->name, declared_.size());
    for (size_t i = 0; i < arguments_.size(); ++i)
      if (const Status added = add(i, by_metadata ? &declared_[i] : nullptr); !added)
        return failed(added.error(), what(i));
    return std::move(segment_);
  }

 private:
  std::string what(size_t i) const {
    const ArgumentSpec& a = arguments_[i];
    return fmt::format("{}: argument {}{}", memory_.plan().spec.place(a.line), i + 1,
                       a.name.empty() ? "" : " '" + a.name + "'");
  }

  Result<int64_t> integer(const Expression& e, std::string_view key, int64_t most) const {
    Result<int64_t> value = evaluate_integer(e.text, scope_, 0, most);
    if (!value) return failed(value.error(), key);
    return value;
  }

  Status add(size_t i, const codeobject::KernelArgument* declared) {
    const ArgumentSpec& a = arguments_[i];
    ASMEVO_TRY(const Bytes bytes, bytes_of(a));
    uint64_t at = 0;
    if (declared != nullptr) {
      ASMEVO_CHECK(check(a, bytes.size(), *declared));
      at = declared->offset;
    } else if (a.at.given()) {
      ASMEVO_TRY(const int64_t given, integer(a.at, "at", most_kernarg));
      at = static_cast<uint64_t>(given);
      for (const auto& [from, to] : taken_)
        if (at < to && from < at + bytes.size())
          return bad_input("at: byte {} is taken by another argument", at);
    } else {
      const uint64_t alignment = a.kind == ArgumentSpec::Kind::Bytes ? 1 : bytes.size();
      at = align_up(next_, alignment);
    }
    if (at + bytes.size() > static_cast<uint64_t>(most_kernarg))
      return bad_input("more than 1 MiB of arguments");
    ASMEVO_CHECK(check_extent(at + bytes.size()));
    segment_.resize(std::max<uint64_t>(segment_.size(), at + bytes.size()));
    std::ranges::copy(bytes, segment_.begin() + static_cast<ptrdiff_t>(at));
    next_ = at + bytes.size();
    taken_.emplace_back(at, next_);
    return {};
  }

  Status check(const ArgumentSpec& a, uint64_t bytes, const codeobject::KernelArgument& declared) const {
    const std::string takes =
        fmt::format("kernel '{}' takes {} bytes of {}{} here", kernel_->name, declared.size,
                    printable(declared.value_kind), declared.name.empty() ? "" : " '" + declared.name + "'");
    if (bytes != declared.size) return bad_input("{} bytes; {}", bytes, takes);
    const bool number = a.kind == ArgumentSpec::Kind::Scalar && a.dtype != "ptr" && a.dtype != "u64";
    if (declared.value_kind == "global_buffer" && number)
      return bad_input("a number of {}; {}", a.dtype, takes);
    return {};
  }

  // Where the metadata lists arguments, nothing lies beyond them: hidden arguments or nothing follows.
  Status check_extent(uint64_t end) const {
    if (declared_.empty()) return {};
    uint64_t last = 0;
    for (const auto& d : declared_) last = std::max(last, d.offset + d.size);
    if (end <= last) return {};
    return bad_input("ends at byte {}; the arguments of kernel '{}' end at {}", end, kernel_->name, last);
  }

  Result<Bytes> bytes_of(const ArgumentSpec& a) {
    switch (a.kind) {
    case ArgumentSpec::Kind::Buffer: return pointer_to(a);
    case ArgumentSpec::Kind::Scalar: return scalar(a);
    case ArgumentSpec::Kind::Bytes: return hex_bytes(a.bytes);
    case ArgumentSpec::Kind::Pointers: break;
    }
    return table(a);
  }

  static Bytes pointer(uint64_t address) {
    Bytes bytes;
    append(bytes, address);
    return bytes;
  }

  Result<Bytes> pointer_to(const ArgumentSpec& a) const {
    const size_t buffer = *memory_.plan().find(a.buffer); // the spec was checked
    const uint64_t size = memory_.plan().buffers[buffer].bytes;
    int64_t offset = 0;
    if (a.offset.given()) {
      ASMEVO_TRY(offset, integer(a.offset, "offset", static_cast<int64_t>(size)));
    }
    return pointer(memory_.address(buffer) + static_cast<uint64_t>(offset));
  }

  Result<Bytes> scalar(const ArgumentSpec& a) const {
    ASMEVO_TRY(const ElementType type, element_type(a.dtype));
    ASMEVO_TRY(const Number value, evaluate(a.value.text, scope_));
    const int64_t* whole = std::get_if<int64_t>(&value);
    uint64_t code = 0;
    if (type.is_float()) {
      code = encode(type, whole != nullptr ? static_cast<double>(*whole) : std::get<double>(value));
    } else {
      if (whole == nullptr)
        return bad_input("value: {} is no integer, as {} needs", std::get<double>(value), a.dtype);
      ASMEVO_TRY(code, encode_integer(type, *whole));
    }
    Bytes bytes = pointer(code);
    bytes.resize(type.bits / 8);
    return bytes;
  }

  Result<Bytes> table(const ArgumentSpec& a) {
    ASMEVO_TRY(const auto pointers, plan_pointers(memory_.plan(), a.pointers, scope_, "pointers"));
    Bytes contents;
    for (const PlannedPointer& p : pointers) append(contents, memory_.address(p.buffer) + p.offset);
    device::Device& device = memory_.device();
    ASMEVO_TRY(const uint64_t address,
               device.allocate("pointers", std::max<uint64_t>(contents.size(), pointer_bytes)));
    tables_.push_back(address);
    if (!contents.empty()) ASMEVO_CHECK(device.write(address, contents));
    return pointer(address);
  }

  const std::vector<ArgumentSpec>& arguments_;
  const Scope& scope_;
  const codeobject::KernelMetadata* kernel_;
  LaunchMemory& memory_;
  std::vector<uint64_t>& tables_;
  std::vector<codeobject::KernelArgument> declared_;
  bool placed_ = false;
  Bytes segment_;
  uint64_t next_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> taken_;
};

} // namespace

Result<Bytes> build_kernarg(const std::vector<ArgumentSpec>& arguments, const Scope& scope,
                            const codeobject::KernelMetadata* kernel, LaunchMemory& memory,
                            std::vector<uint64_t>& tables) {
  return Builder(arguments, scope, kernel, memory, tables).run();
}

} // namespace asmevo::oracle
