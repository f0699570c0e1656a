// A kernel kept as plain lines of text, to which edits are applied the obvious way. Assembled and linked by
// LLVM's programs it says what the bytes of an edited Program must be.
#pragma once

#include "base/random.h"
#include "program/edit.h"
#include "program/layout.h"
#include "program/program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace asmevo::program::testing {

struct ModelLine {
  std::vector<std::string> labels; // in front of it
  std::string text;                // "s_branch" where a symbol follows
  std::string symbol;              // label it refers to
  InstrId id;
  bool fresh = false; // put there by the edit under way: gets its id when the edit is done
  unsigned bytes = 4;
  // rel32 halves: the id of the s_getpc_b64 they count from.
  std::optional<InstrId> getpc;
  const char* specifier = "";
};

struct ModelFunction {
  std::string name;
  std::vector<ModelLine> lines;
  std::vector<std::string> end_labels; // behind the last line
};

struct AssemblyModel {
  std::vector<ModelFunction> functions;

  /// GNU syntax, labels prefixed, each function on 256 bytes.
  std::string source(const std::string& prefix) const {
    std::string out;
    for (const ModelFunction& f : functions) {
      out += fmt::format(".p2align 8\n{}{}:\n", prefix, f.name);
      for (size_t k = 0; k < f.lines.size(); ++k) {
        const ModelLine& line = f.lines[k];
        for (const std::string& label : line.labels) out += fmt::format("{}{}:\n", prefix, label);
        out +=
            fmt::format("  {}{}{}{}{}\n", line.text, line.symbol.empty() ? "" : " ",
                        line.symbol.empty() ? "" : prefix + line.symbol, line.specifier, addend_text(f, k));
      }
      for (const std::string& label : f.end_labels) out += fmt::format("{}{}:\n", prefix, label);
    }
    return out + ".p2align 8\n";
  }

 private:
  // rel32 counts from the literal; the pair means the distance from the end of its s_getpc_b64.
  static std::string addend_text(const ModelFunction& f, size_t at) {
    if (!f.lines[at].getpc) return "";
    const auto getpc = std::ranges::find(f.lines, *f.lines[at].getpc, &ModelLine::id);
    unsigned distance = f.lines[at].bytes - 4;
    for (auto k = static_cast<size_t>(getpc - f.lines.begin()) + 1; k < at; ++k) distance += f.lines[k].bytes;
    return fmt::format("+{}", distance);
  }
};

/// One change to the model, and the same as the edit says it.
struct ModelChange {
  size_t function = 0, first = 0, count = 0; // lines replaced; 0: insertion in front of `first`
  std::vector<ModelLine> lines;
  std::vector<std::string> end_labels; // labels behind the last new line

  Change edit(const AssemblyModel& model) const {
    const auto& lines_there = model.functions[function].lines;
    Change change;
    if (count == 0) {
      change.before = lines_there[first].id;
    } else {
      change.first = lines_there[first].id;
      change.last = lines_there[first + count - 1].id;
    }
    for (const ModelLine& line : lines) {
      for (const std::string& label : line.labels) change.text += label + ": ";
      change.text +=
          fmt::format("{}{}{}{}", line.text, line.symbol.empty() ? "" : " ", line.symbol, line.specifier);
      // In the text of an edit the distance is written out.
      if (line.specifier[0] != '\0')
        change.text += line.specifier == std::string_view("@rel32@lo") ? "+4" : "+12";
      change.text += "\n";
    }
    for (const std::string& label : end_labels) change.text += label + ":\n";
    return change;
  }
};

/// Applies changes that do not overlap.
inline void apply(AssemblyModel& model, std::vector<ModelChange> changes) {
  std::ranges::stable_sort(changes, [](const ModelChange& a, const ModelChange& b) {
    return std::tuple(a.function, a.first, a.first + a.count) <
           std::tuple(b.function, b.first, b.first + b.count);
  });
  for (size_t f = 0; f < model.functions.size(); ++f) {
    std::vector<ModelLine> result;
    std::vector<std::string> waiting; // labels for the next line
    const auto push = [&](ModelLine line) {
      line.labels.insert(line.labels.begin(), waiting.begin(), waiting.end());
      waiting.clear();
      result.push_back(std::move(line));
    };
    auto& lines = model.functions[f].lines;
    size_t next = 0;
    for (size_t at = 0; at < lines.size();) {
      // Whatever stands in front of a line comes after its labels: who jumps there runs it.
      bool replaced = false;
      bool labels_taken = false;
      const auto take_labels = [&](size_t line) {
        waiting.insert(waiting.end(), lines[line].labels.begin(), lines[line].labels.end());
        lines[line].labels.clear();
      };
      while (next < changes.size() && changes[next].function < f) ++next;
      for (; next < changes.size() && changes[next].function == f && changes[next].first == at && !replaced;
           ++next) {
        const ModelChange& c = changes[next];
        if (!labels_taken) take_labels(at);
        labels_taken = true;
        for (size_t k = at; k < at + c.count; ++k) take_labels(k);
        for (ModelLine line : c.lines) {
          line.fresh = true;
          push(std::move(line));
        }
        waiting.insert(waiting.end(), c.end_labels.begin(), c.end_labels.end());
        if (c.count > 0) at += c.count, replaced = true;
      }
      if (!replaced) push(lines[at++]);
    }
    model.functions[f].end_labels.insert(model.functions[f].end_labels.end(), waiting.begin(), waiting.end());
    lines = std::move(result);
  }
}

/// Gives the lines of the last edit their ids: node.0, node.1, ... in address order.
inline void number_fresh_lines(AssemblyModel& model, uint32_t node) {
  uint32_t n = 0;
  std::vector<std::pair<InstrId, InstrId>> renamed;
  for (ModelFunction& f : model.functions)
    for (ModelLine& line : f.lines)
      if (line.fresh) {
        const InstrId id{node, n++};
        renamed.emplace_back(line.id, id);
        line.id = id;
        line.fresh = false;
      }
  for (ModelFunction& f : model.functions)
    for (ModelLine& line : f.lines)
      if (line.getpc)
        if (const auto at = std::ranges::find(renamed, *line.getpc, &std::pair<InstrId, InstrId>::first);
            at != renamed.end())
          line.getpc = at->second;
}

/// Random models and random edits of them.
class ModelGenerator {
 public:
  ModelGenerator(uint64_t seed, isa::Codec& codec) : random_(seed), codec_(codec) {}

  AssemblyModel model() {
    AssemblyModel m;
    for (size_t f = 0, count = 1 + random_.below(3); f < count; ++f) {
      ModelFunction& function = m.functions.emplace_back();
      function.name = fmt::format("f{}", f);
      labels_.push_back(function.name);
      for (size_t k = 0, size = 3 + random_.below(60); k < size; ++k) {
        ModelLine line = plain_line();
        if (random_.below(5) == 0) line.labels.push_back(new_label());
        function.lines.push_back(std::move(line));
      }
    }
    for (ModelFunction& f : m.functions) {
      sprinkle_branches(f.lines);
      if (random_.below(2) == 0) add_address(f.lines, random_.below(f.lines.size()));
      f.lines.push_back(sized("s_endpgm"));
    }
    number(m);
    return m;
  }

  std::vector<ModelChange> changes(const AssemblyModel& m) {
    std::vector<ModelChange> all;
    const size_t function = random_.below(m.functions.size()); // an edit is of one kernel
    for (size_t k = 0, count = 1 + random_.below(4); k < count; ++k) {
      ModelChange c;
      c.function = function;
      const auto& lines = m.functions[c.function].lines;
      c.first = random_.below(lines.size());
      c.count = random_.below(3) == 0 ? 0 : 1 + random_.below(5);
      if (c.first + c.count >= lines.size()) c.count = 0; // the s_endpgm stays
      if (touches_address(lines, c) ||
          std::ranges::any_of(all, [&](const ModelChange& o) { return overlap(o, c); }))
        continue;
      fill(c);
      all.push_back(std::move(c));
    }
    return all;
  }

  /// The Program of a freshly made model, with the s_nops that fill up to each function as entries.
  Program program(const AssemblyModel& m) {
    Program p;
    p.target = codec_.target();
    uint32_t offset = 0;
    std::vector<std::pair<Index, const ModelLine*>> references;
    for (const ModelFunction& f : m.functions) {
      Function function{f.name, count(p), 0, true, 0};
      if (!p.functions.empty()) p.aligned.push_back({count(p), 256, p.functions.back().padding, no_index, 0});
      p.labels.push_back({f.name, count(p)});
      for (const ModelLine& line : f.lines) {
        for (const std::string& label : line.labels) p.labels.push_back({label, count(p)});
        if (!line.symbol.empty()) references.emplace_back(count(p), &line);
        EXPECT_EQ(line.id, (InstrId{0, offset}));
        offset += line.bytes;
        p.entries.push_back({line.id, no_index, parse_line(line)});
      }
      function.padding = count(p);
      for (; offset % 256 != 0; offset += 4)
        p.entries.push_back({{0, offset}, no_index, (*codec_.parse("s_nop 0"))[0].instruction});
      function.end = count(p);
      p.functions.push_back(function);
    }
    p.aligned.push_back({count(p), 256, p.functions.back().padding, no_index, 0});
    for (const auto& [at, line] : references) {
      Reference r;
      r.use = line->getpc ? (line->specifier == std::string_view("@rel32@lo") ? isa::SymbolUse::Rel32Lo
                                                                              : isa::SymbolUse::Rel32Hi)
                          : isa::SymbolUse::Branch;
      r.label = *p.find_label(line->symbol);
      if (line->getpc) r.base = *p.find(*line->getpc);
      p.entries[at].reference = static_cast<uint32_t>(p.references.size());
      p.references.push_back(r);
    }
    p.pools.push_back(codec_.pool());
    return p;
  }

 private:
  static Index count(const Program& p) { return static_cast<Index>(p.entries.size()); }

  static bool overlap(const ModelChange& a, const ModelChange& b) {
    return a.function == b.function && a.first < b.first + std::max<size_t>(b.count, 1) &&
           b.first < a.first + std::max<size_t>(a.count, 1) && (a.count > 0 || b.count > 0) &&
           !(a.count == 0 && a.first <= b.first) && !(b.count == 0 && b.first <= a.first);
  }

  // A pair may be moved apart but not lose its s_getpc_b64.
  static bool touches_address(const std::vector<ModelLine>& lines, const ModelChange& c) {
    for (size_t k = c.first; k < c.first + c.count; ++k)
      if (lines[k].text.starts_with("s_getpc") || lines[k].getpc) return true;
    return false;
  }

  const isa::Instruction* parse_line(const ModelLine& line) {
    const auto parsed = codec_.parse(fmt::format("{} {}{}", line.text, line.symbol, line.specifier));
    if (parsed && parsed->size() == 1) return (*parsed)[0].instruction;
    ADD_FAILURE() << line.text << ": " << (parsed ? "?" : parsed.error().describe());
    return nullptr;
  }

  ModelLine sized(std::string text, std::string symbol = {}, const char* specifier = "") {
    ModelLine line;
    line.text = std::move(text);
    line.symbol = std::move(symbol);
    line.specifier = specifier;
    const isa::Instruction* i = parse_line(line);
    line.bytes = i != nullptr ? i->bytes() : 4;
    line.id = {~0U, next_++};
    return line;
  }

  ModelLine plain_line() {
    static constexpr std::array pool = {
        "s_nop 1",
        "s_mov_b32 s3, s4",
        "s_mov_b32 s3, 0x12345678",
        "s_add_u32 s5, s6, 0xffff0000",
        "s_waitcnt vmcnt(3) lgkmcnt(2)",
        "s_cmp_lt_u32 s7, 0x1000",
        "v_mov_b32_e32 v1, v2",
        "v_add_f32_e32 v1, 1.0, v2",
        "v_add_f32_e32 v1, 0x40490fdb, v2",
        "v_fma_f32 v1, v2, v3, -v4",
        "v_pk_fma_f32 v[2:3], v[4:5], v[6:7], v[8:9]",
        "ds_read_b128 v[4:7], v1 offset:64",
        "ds_write2_b32 v0, v1, v2 offset1:4",
        "global_load_dwordx4 v[4:7], v[2:3], off offset:-16",
        "buffer_load_dword v1, off, s[8:11], 0",
        "s_load_dwordx4 s[4:7], s[0:1], 0x40",
        "v_accvgpr_write_b32 a1, v2",
        "v_mov_b32_dpp v1, v2 row_shl:1 row_mask:0xf bank_mask:0xf",
        "v_cmp_gt_f32_e32 vcc, v1, v2",
        "v_cndmask_b32_e32 v1, v2, v3, vcc",
        "s_barrier",
        "v_accvgpr_read_b32 v3, a7",
        "flat_load_dword v1, v[2:3]",
        "s_getreg_b32 s1, hwreg(HW_REG_MODE)",
    };
    return sized(pool[random_.below(pool.size())]);
  }

  std::string new_label() {
    labels_.push_back(fmt::format("L{}", labels_.size()));
    return labels_.back();
  }

  void sprinkle_branches(std::vector<ModelLine>& lines) {
    static constexpr std::array branches = {"s_branch", "s_cbranch_scc0", "s_cbranch_execz",
                                            "s_cbranch_vccnz", "s_call_b64 s[30:31],"};
    for (ModelLine& line : lines)
      if (random_.below(8) == 0) {
        const char* mnemonic = branches[random_.below(branches.size())];
        ModelLine branch = sized(mnemonic, labels_[random_.below(labels_.size())]);
        branch.labels = line.labels;
        line = std::move(branch);
      }
  }

  // s_getpc_b64 and the two additions that make an address.
  void add_address(std::vector<ModelLine>& lines, size_t at) {
    const std::string& symbol = labels_[random_.below(labels_.size())];
    ModelLine getpc = sized("s_getpc_b64 s[20:21]");
    ModelLine low = sized("s_add_u32 s20, s20,", symbol, "@rel32@lo");
    ModelLine high = sized("s_addc_u32 s21, s21,", symbol, "@rel32@hi");
    low.getpc = high.getpc = getpc.id;
    const auto place = lines.begin() + static_cast<ptrdiff_t>(at);
    lines.insert(place, {std::move(getpc), std::move(low), std::move(high)});
  }

  void fill(ModelChange& c) {
    for (size_t k = 0, count = random_.below(6); k < count; ++k) {
      ModelLine line = plain_line();
      if (random_.below(4) == 0) line.labels.push_back(new_label());
      c.lines.push_back(std::move(line));
    }
    if (c.lines.empty() && c.count == 0) c.lines.push_back(plain_line());
    if (random_.below(6) == 0) c.end_labels.push_back(new_label());
    sprinkle_branches(c.lines);
    if (random_.below(6) == 0) add_address(c.lines, random_.below(c.lines.size() + 1));
  }

  // K0's ids: byte offsets.
  static void number(AssemblyModel& m) {
    uint32_t offset = 0;
    std::vector<std::pair<InstrId, InstrId>> renamed;
    for (ModelFunction& f : m.functions) {
      for (ModelLine& line : f.lines) {
        renamed.emplace_back(line.id, InstrId{0, offset});
        line.id = {0, offset};
        offset += line.bytes;
      }
      offset = (offset + 255) / 256 * 256;
    }
    for (ModelFunction& f : m.functions)
      for (ModelLine& line : f.lines)
        if (line.getpc)
          line.getpc = std::ranges::find(renamed, *line.getpc, &std::pair<InstrId, InstrId>::first)->second;
  }

  RandomStream random_;
  isa::Codec& codec_;
  std::vector<std::string> labels_;
  uint32_t next_ = 0;
};

} // namespace asmevo::program::testing
