#include "rebuild/resources.h"

#include <algorithm>
#include <set>

namespace asmevo::rebuild {

using codeobject::CodeObject;
using codeobject::Kernel;
using program::Function;
using program::Index;
using program::Program;

namespace {

void count(RegisterUse& use, const isa::RegRange& r) {
  namespace unit = isa::unit;
  const unsigned last = r.first + r.count;
  if (r.count == 0) return;
  if (isa::is_vgpr(r.first))
    use.vgprs = std::max(use.vgprs, last);
  else if (isa::is_agpr(r.first))
    use.agprs = std::max(use.agprs, last - unit::agpr0);
  else if (isa::is_sgpr(r.first))
    use.sgprs = std::max(use.sgprs, last - unit::scalar0);
  else if (r.first >= unit::flat_scratch && r.first < unit::xnack_mask)
    use.flat_scratch = true;
  else if (r.first >= unit::xnack_mask && r.first < unit::vcc)
    use.xnack_mask = true;
  else if (r.first >= unit::vcc && r.first < unit::ttmp0)
    use.vcc = true;
}

bool uses_scratch(const isa::Instruction& i) {
  return i.memory.kind == isa::MemoryKind::Scratch;
}

// Functions reached from a kernel: by direct calls and branches, and by addresses its code computes.
class CallGraph {
 public:
  explicit CallGraph(const Program& program) : program_(program) {}

  std::set<const Function*> reached_from(const Function& kernel, bool& unknown) {
    visit(kernel);
    unknown = unknown_;
    if (unknown_)
      for (const Function& f : program_.functions)
        if (!f.kernel) reached_.insert(&f);
    return std::move(reached_);
  }

 private:
  void visit(const Function& f) {
    std::vector<const Function*> open{&f};
    while (!open.empty()) {
      const Function* now = open.back();
      open.pop_back();
      if (!reached_.insert(now).second) continue;
      bool addresses = false, indirect = false;
      for (Index i = now->begin; i < now->end; ++i) {
        const isa::Instruction& insn = program_.instruction(i);
        indirect = indirect || (insn.call && insn.indirect);
        const Function* target = target_of(i, addresses);
        if (target != nullptr && target != now) open.push_back(target);
      }
      // A call through a register that no address in this function explains: a function pointer.
      if (indirect && !addresses) unknown_ = true;
      if (indirect && loads_code_addresses(*now)) unknown_ = true;
    }
  }

  const Function* target_of(Index i, bool& addresses) const {
    const uint32_t reference = program_.entries[i].reference;
    if (reference == program::no_index) return nullptr;
    const program::Reference& r = program_.references[reference];
    if (r.label == program::no_index) return nullptr;
    const Function* target = program_.function_at(program_.labels[r.label].at);
    addresses = addresses || r.use == isa::SymbolUse::Rel32Lo;
    return target;
  }

  // The callee register of some s_swappc_b64 comes from memory (GOT or function pointer).
  bool loads_code_addresses(const Function& f) const {
    isa::RegSet loaded;
    for (Index i = f.begin; i < f.end; ++i) {
      const isa::Instruction& insn = program_.instruction(i);
      if (insn.call && insn.indirect && !insn.uses.empty() && loaded.overlaps(insn.uses[0])) return true;
      for (const isa::RegRange& d : insn.defs) {
        if (insn.memory.kind == isa::MemoryKind::Scalar || insn.is("v_readfirstlane_b32"))
          loaded.insert(d);
        else
          loaded.erase(d);
      }
    }
    return false;
  }

  const Program& program_;
  std::set<const Function*> reached_;
  bool unknown_ = false;
};

unsigned align4(unsigned n) {
  return static_cast<unsigned>(align_up(n, 4));
}

// SGPRs as the descriptor counts them: VCC, FLAT_SCRATCH and XNACK_MASK stand behind the addressable ones.
unsigned counted_sgprs(const RegisterUse& use, const isa::Target& target) {
  if (target.architected_flat_scratch()) return use.sgprs + 6;
  return use.sgprs + (use.flat_scratch ? 6U : use.xnack_mask ? 4U : use.vcc ? 2U : 0U);
}

class Planner {
 public:
  Planner(const CodeObject& k0, const Kernel& kernel, const RegisterUse& of_k0, const RegisterUse& now,
          const program::ResourceRequest& request)
      : target_(k0.target()), k0_(k0), kernel_(kernel), of_k0_(of_k0), now_(now), request_(request) {
    result_.descriptor = kernel.descriptor;
  }

  Result<Resources> run() {
    ASMEVO_CHECK(vector_registers());
    ASMEVO_CHECK(scalar_registers());
    ASMEVO_CHECK(scratch());
    ASMEVO_CHECK(lds());
    return std::move(result_);
  }

 private:
  Status vector_registers() {
    const unsigned offset = codeobject::accum_offset(kernel_.descriptor, target_);
    const unsigned allocated = codeobject::allocated_vgprs(kernel_.descriptor, target_);
    unsigned new_offset = offset, total = allocated;
    if (request_.shrink_vgprs) {
      new_offset = std::max(4U, align4(now_.vgprs));
      total = now_.agprs > 0 ? new_offset + now_.agprs : std::max(1U, now_.vgprs);
    } else {
      // Without AGPRs accum_offset means nothing and the VGPRs may run through it.
      const unsigned vgpr_room = of_k0_.agprs > 0 || now_.agprs > 0 ? std::min(offset, allocated) : allocated;
      const bool vgprs_grow = now_.vgprs > of_k0_.vgprs && now_.vgprs > vgpr_room;
      if (vgprs_grow) new_offset = std::max(offset, align4(now_.vgprs));
      const bool agprs_grow =
          now_.agprs > of_k0_.agprs && now_.agprs > allocated - std::min(allocated, offset);
      if (vgprs_grow || agprs_grow)
        total = std::max(allocated, now_.agprs > 0 ? new_offset + now_.agprs : now_.vgprs);
    }
    total = static_cast<unsigned>(align_up(total, isa::limits(target_).vgpr_granule));
    if (new_offset > 256 || total > isa::limits(target_).max_vgprs)
      return bad_input("kernel '{}': {} VGPRs and {} AGPRs are more than a wave can have", kernel_.name,
                       now_.vgprs, now_.agprs);
    const codeobject::KernelMetadata* note = k0_.metadata_of(kernel_);
    if (note != nullptr && total > allocated &&
        note->max_flat_workgroup_size <= codeobject::largest_workgroup(target_, allocated) &&
        note->max_flat_workgroup_size > codeobject::largest_workgroup(target_, total))
      return bad_input("kernel '{}': with {} registers a wave, workgroups of {} are not resident together",
                       kernel_.name, total, note->max_flat_workgroup_size);
    if (total != allocated) {
      set(result_.descriptor, target_, "granulated_workitem_vgpr_count", total / 8 - 1);
      change("vgprs", allocated, total);
    }
    if (new_offset != offset) {
      set(result_.descriptor, target_, "accum_offset", new_offset / 4 - 1);
      change("accum_offset", offset, new_offset);
    }
    if (now_.agprs > of_k0_.agprs || (request_.shrink_vgprs && now_.agprs != of_k0_.agprs))
      change("agprs", of_k0_.agprs, now_.agprs);
    return {};
  }

  Status scalar_registers() {
    const unsigned allocated = codeobject::allocated_sgprs(kernel_.descriptor, target_);
    const unsigned needed = counted_sgprs(now_, target_);
    if (needed <= allocated || needed <= counted_sgprs(of_k0_, target_)) return {};
    const auto total = static_cast<unsigned>(align_up(needed, isa::limits(target_).sgpr_granule));
    set(result_.descriptor, target_, "granulated_wavefront_sgpr_count", total / 8 - 1);
    change("sgprs", allocated, needed);
    return {};
  }

  Status scratch() {
    const bool set_up = get(kernel_.descriptor, target_, "enable_private_segment") != 0;
    if (now_.scratch && !of_k0_.scratch && !set_up)
      return bad_input("kernel '{}' has no private segment: scratch instructions cannot be added",
                       kernel_.name);
    const uint32_t was = kernel_.descriptor.private_segment_fixed_size;
    if (!request_.scratch_bytes || *request_.scratch_bytes == was) return {};
    if (!set_up)
      return bad_input("kernel '{}' has no private segment: scratch_bytes cannot be set", kernel_.name);
    result_.descriptor.private_segment_fixed_size = *request_.scratch_bytes;
    change("scratch_bytes", was, *request_.scratch_bytes);
    return {};
  }

  Status lds() {
    const uint32_t was = kernel_.descriptor.group_segment_fixed_size;
    if (!request_.lds_bytes || *request_.lds_bytes == was) return {};
    if (*request_.lds_bytes > isa::limits(target_).lds_bytes)
      return bad_input("kernel '{}': {} bytes of LDS, the target has {}", kernel_.name, *request_.lds_bytes,
                       isa::limits(target_).lds_bytes);
    if (has_dynamic_lds())
      return bad_input("kernel '{}' has dynamic LDS behind its {} static bytes: their number cannot change",
                       kernel_.name, was);
    result_.descriptor.group_segment_fixed_size = *request_.lds_bytes;
    change("lds_bytes", was, *request_.lds_bytes);
    return {};
  }

  bool has_dynamic_lds() const {
    const codeobject::KernelMetadata* metadata = k0_.metadata_of(kernel_);
    return metadata != nullptr && std::ranges::any_of(metadata->args, [](const auto& arg) {
             return arg.value_kind == "dynamic_shared_pointer" || arg.value_kind == "hidden_dynamic_lds_size";
           });
  }

  void change(std::string field, uint64_t from, uint64_t to) {
    result_.changes.push_back({kernel_.name, std::move(field), from, to});
  }

  isa::Target target_;
  const CodeObject& k0_;
  const Kernel& kernel_;
  const RegisterUse &of_k0_, &now_;
  const program::ResourceRequest& request_;
  Resources result_;
};

} // namespace

std::set<const Function*> functions_of(const Program& program, const Function& kernel,
                                       bool* unknown_callees) {
  bool unknown = false;
  auto reached = CallGraph(program).reached_from(kernel, unknown);
  if (unknown_callees != nullptr) *unknown_callees = unknown;
  return reached;
}

RegisterUse scan_registers(const Program& program, const Function& kernel) {
  RegisterUse use;
  for (const Function* f : functions_of(program, kernel, &use.unknown_callees))
    for (Index i = f->begin; i < f->padding; ++i) {
      const isa::Instruction& insn = program.instruction(i);
      for (const isa::RegRange& r : insn.defs) count(use, r);
      for (const isa::RegRange& r : insn.uses) count(use, r);
      use.scratch = use.scratch || uses_scratch(insn);
    }
  return use;
}

Result<Resources> resources_after(const CodeObject& k0, const Kernel& kernel, const RegisterUse& of_k0,
                                  const RegisterUse& now, const program::ResourceRequest& request) {
  return Planner(k0, kernel, of_k0, now, request).run();
}

void update_metadata(codeobject::Metadata& metadata, size_t index,
                     const std::vector<ResourceChange>& changes) {
  struct Key {
    std::string_view field, key;
    bool count; // a register count, which hand-written notes may state higher than the descriptor: never
                // lowered by growth
  };
  constexpr Key keys[] = {{"vgprs", ".vgpr_count", true},
                          {"agprs", ".agpr_count", true},
                          {"sgprs", ".sgpr_count", true},
                          {"scratch_bytes", ".private_segment_fixed_size", false},
                          {"lds_bytes", ".group_segment_fixed_size", false}};
  for (const ResourceChange& c : changes)
    for (const Key& k : keys) {
      if (k.field != c.field) continue;
      const auto& kernel = metadata.document()["amdhsa.kernels"][index];
      const auto declared = kernel.find(k.key);
      const bool grows = c.to > c.from;
      if (k.count && grows && declared != kernel.end() && declared->is_number() &&
          declared->get<uint64_t>() >= c.to)
        continue;
      metadata.set(index, k.key, c.to);
    }
}

} // namespace asmevo::rebuild
