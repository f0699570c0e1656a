#include "codeobject/inspection.h"

#include <algorithm>
#include <elf.h>
#include <iterator>

namespace asmevo::codeobject {

namespace {

std::string plural(uint64_t count, std::string_view thing) {
  return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
}

std::string waves(double count) {
  // Whole numbers and quarters are all there is (four SIMDs).
  return fmt::format("{:g} wave{}", count, count == 1 ? "" : "s");
}

std::string joined(const std::vector<std::string>& parts) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i)
    out += (i == 0 ? "" : i + 1 == parts.size() ? " and " : ", ") + parts[i];
  return out;
}

class TextWriter {
 public:
  TextWriter(const CodeObject& object, const Inspection& inspection)
      : object_(object), inspection_(inspection) {}

  std::string write(bool full) {
    head();
    if (full) {
      for (const KernelInspection& kernel : inspection_.kernels) show(kernel);
      sections();
    } else {
      table();
    }
    if (!inspection_.notes.empty()) {
      out_ += "\nnotes on the object\n";
      for (const std::string& note : inspection_.notes) line("  - {}\n", printable(note, whole_text));
    }
    return std::move(out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  template <class... Args>
  void item(std::string_view name, fmt::format_string<Args...> format, Args&&... args) {
    line("  {:<11}  {}\n", name, fmt::format(format, std::forward<Args>(args)...));
  }

  void head() {
    line("code object V{} for {}{}, {} bytes, {}\n", object_.version(), object_.target().id(),
         object_.target().generic ? " (from gfx9-4-generic)" : "", object_.bytes().size(),
         plural(object_.kernels().size(), "kernel"));
  }

  void show(const KernelInspection& k) {
    const Kernel& kernel = *k.kernel;
    line("\nkernel {}\n", printable(kernel.name, whole_text));
    const Section& section = object_.sections()[*object_.section_at(kernel.entry)];
    item("code", "{} bytes at {:#x} ({}+{:#x}), descriptor at {:#x}", k.code_size, kernel.entry,
         printable(section.name, whole_text), kernel.entry - section.address, kernel.descriptor_address);
    item("registers", "{} VGPRs ({} arch + {} acc), {} SGPRs", k.vgprs, k.arch_vgprs, k.acc_vgprs, k.sgprs);
    item("LDS", "{}", k.lds_bytes == 0 ? "none" : plural(k.lds_bytes, "byte"));
    item("scratch", "{}{}",
         k.scratch_bytes == 0 ? "none" : plural(k.scratch_bytes, "byte") + " per work-item",
         get(kernel.descriptor, object_.target(), "uses_dynamic_stack") != 0 ? ", and a dynamic stack" : "");
    show_workgroup(k);
    show_sgprs(k);
    show_occupancy(k);
    show_arguments(k);
    if (k.notes.empty()) return;
    out_ += "  notes\n";
    for (const std::string& note : k.notes) line("    - {}\n", printable(note, whole_text));
  }

  void show_workgroup(const KernelInspection& k) {
    if (k.workgroup_size == 0) {
      item("workgroup", "size not given");
      return;
    }
    const bool required =
        k.metadata->reqd_workgroup_size.has_value() && !k.metadata->reqd_workgroup_size->empty();
    item("workgroup", "{} {} work-items ({})", required ? "exactly" : "up to",
         required ? fmt::format("{}", fmt::join(*k.metadata->reqd_workgroup_size, " x "))
                  : fmt::format("{}", k.workgroup_size),
         plural(k.occupancy.waves_per_workgroup, "wave"));
  }

  void show_sgprs(const KernelInspection& k) {
    std::vector<std::string> parts;
    unsigned next = 0;
    const auto place = [&](std::string_view name, unsigned count) {
      parts.push_back(count == 1 ? fmt::format("{} s{}", name, next)
                                 : fmt::format("{} s[{}:{}]", name, next, next + count - 1));
      next += count;
    };
    for (const auto& [name, count] : k.user_sgprs) place(name, count);
    // System SGPRs follow the user ones, however many those are said to be.
    next = static_cast<unsigned>(get(k.kernel->descriptor, object_.target(), "user_sgpr_count"));
    for (const char* name : {"workgroup_id_x", "workgroup_id_y", "workgroup_id_z", "workgroup_info"})
      if (get(k.kernel->descriptor, object_.target(), fmt::format("enable_sgpr_{}", name)) != 0)
        place(name, 1);
    item("SGPRs set", "{}", parts.empty() ? "none" : fmt::format("{}", fmt::join(parts, ", ")));
    const uint64_t ids = get(k.kernel->descriptor, object_.target(), "enable_vgpr_workitem_id");
    item("VGPRs set", "work-item id {} in v0", ids == 0 ? "x" : ids == 1 ? "x, y" : "x, y, z");
  }

  void show_occupancy(const KernelInspection& k) {
    const Occupancy& o = k.occupancy;
    const isa::Limits limits = isa::limits(object_.target());
    item("occupancy", "{} per SIMD (of {}), limited by {}", waves(o.waves_per_simd), limits.waves_per_simd,
         joined(o.limiters));
    const auto row = [&](std::string_view what, unsigned workgroups, const std::string& why) {
      line("    {:<15} {:>2} workgroup{} per compute unit: {}\n", what, workgroups,
           workgroups == 1 ? " " : "s", why);
    };
    row("VGPRs", o.workgroups_by_vgprs,
        fmt::format("{} of {} registers a wave, {} per SIMD", k.vgprs, limits.max_vgprs, waves(o.by_vgprs)));
    if (k.lds_bytes != 0)
      row("LDS", o.workgroups_by_lds,
          fmt::format("{} of {} bytes a workgroup", align_up(k.lds_bytes, limits.lds_granule),
                      limits.lds_bytes));
    row("workgroup size", o.workgroups_by_slots,
        fmt::format("{} of {} wave slots each", o.waves_per_workgroup, limits.waves_per_simd * limits.simds));
  }

  void show_arguments(const KernelInspection& k) {
    if (!k.metadata) {
      item("kernarg", "{}", plural(k.kernarg_bytes, "byte"));
      return;
    }
    const auto& args = k.metadata->args;
    const auto pointers = std::ranges::count_if(args, &KernelArgument::pointer);
    item("kernarg", "{}, {} ({})", plural(k.kernarg_bytes, "byte"), plural(args.size(), "argument"),
         plural(static_cast<uint64_t>(pointers), "pointer"));
    if (args.empty()) return;
    // Columns as wide as what stands in them, within reason.
    constexpr size_t widest = 40;
    size_t kind = 4, space = 5, access = 6;
    for (const KernelArgument& a : args) {
      kind = std::max(kind, std::min(widest, a.value_kind.size()));
      space = std::max(space, std::min(widest, a.address_space.size()));
      access = std::max(access, std::min(widest, a.access.size()));
    }
    line("    {:>6}  {:>5}  {:<{}}  {:<{}}  {:<{}}  {}\n", "offset", "size", "kind", kind, "space", space,
         "access", access, "name");
    for (const KernelArgument& a : args)
      line("    {:>6}  {:>5}  {:<{}}  {:<{}}  {:<{}}  {}\n", a.offset, a.size,
           printable(a.value_kind, whole_text), kind,
           a.address_space.empty() ? "-" : printable(a.address_space, whole_text), space,
           a.access.empty() ? "-" : printable(a.access, whole_text), access,
           a.name.empty() ? "-" : printable(a.name, whole_text));
  }

  // One line a kernel.
  void table() {
    if (inspection_.kernels.empty()) return;
    line("{:>6} {:>5} {:>5} {:>7} {:>8} {:>6} {:>8} {:>10} {:>6}  {}\n", "code", "VGPRs", "SGPRs", "LDS",
         "scratch", "group", "kernarg", "waves/SIMD", "notes", "kernel");
    for (const KernelInspection& k : inspection_.kernels)
      line("{:>6} {:>5} {:>5} {:>7} {:>8} {:>6} {:>8} {:>10g} {:>6}  {}\n", k.code_size, k.vgprs, k.sgprs,
           k.lds_bytes, k.scratch_bytes, k.workgroup_size, k.kernarg_bytes, k.occupancy.waves_per_simd,
           k.notes.size(), printable(k.kernel->name, whole_text));
  }

  void sections() {
    out_ += "\nsections\n";
    size_t widest = 4;
    for (const Section& s : object_.sections())
      widest = std::max(widest, std::min<size_t>(40, s.name.size()));
    line("  {:<{}}  {:>10}  {:>10}  {:>10}  {:>5}  {}\n", "name", widest, "address", "offset", "size",
         "align", "holds");
    for (size_t i = 1; i < object_.sections().size(); ++i) {
      const Section& s = object_.sections()[i];
      std::string holds = !s.allocated()               ? "not loaded"
                          : s.executable()             ? "code"
                          : (s.flags & SHF_WRITE) != 0 ? "writable data"
                                                       : "data";
      if (s.type == SHT_NOBITS) holds += ", zero-filled";
      line("  {:<{}}  {:>10}  {:>10}  {:>10}  {:>5}  {}\n", printable(s.name, whole_text), widest,
           s.allocated() ? fmt::format("{:#x}", s.address) : "-", fmt::format("{:#x}", s.offset), s.size,
           s.alignment, holds);
    }
  }

  const CodeObject& object_;
  const Inspection& inspection_;
  std::string out_;
};

} // namespace

std::string inspection_text(const CodeObject& object, const Inspection& inspection, bool full) {
  return TextWriter(object, inspection).write(full);
}

} // namespace asmevo::codeobject
