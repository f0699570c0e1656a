#include "isa/hazard_table.h"

namespace asmevo::isa {

namespace {

HazardTable gfx940_table() {
  HazardTable t;
  t.valu_sgpr_valu = 2;
  t.valu_vgpr_readlane = 1;
  t.valu_exec_lane = 4;
  t.trans_valu = 1;
  t.dst_sel_valu = 1;
  t.wide_store = 2;
  t.wide_store_soffset = 1;
  t.gfx940 = true;
  return t;
}

HazardTable gfx950_table() {
  HazardTable t = gfx940_table();
  t.valu_vgpr_permlane = 2;
  t.valu_exec_permlane = 4;
  t.gfx950 = true;
  return t;
}

HazardTable gfx90a_table() {
  HazardTable t;
  t.valu_dgemm_memory = 2;
  return t;
}

// f64 4x4x4 takes 4 passes everywhere; 16x16x4 takes 16 on gfx90a and gfx950, 8 on gfx942.
constexpr unsigned small_dgemm_passes = 4;
bool is_small_dgemm(unsigned passes) {
  return passes <= small_dgemm_passes;
}

} // namespace

const HazardTable& HazardTable::of(const Target& target) {
  static const HazardTable gfx90a = gfx90a_table(), gfx942 = gfx940_table(), gfx950 = gfx950_table();
  switch (target.gfx) {
  case Gfx::gfx90a: return gfx90a;
  case Gfx::gfx942: return gfx942;
  case Gfx::gfx950: return gfx950;
  }
  return gfx942;
}

unsigned HazardTable::matrix_to_src_c(MatrixKind writer, unsigned passes, MatrixKind reader,
                                      unsigned reader_passes, bool same) const {
  if (writer == MatrixKind::Dgemm) {
    // The SrcC of an XDL is read late enough; gfx90a counts its f32 instructions among them.
    const bool reads_late = reader == MatrixKind::Xdl || (!gfx940 && reader != MatrixKind::Dgemm);
    if (reads_late) return 0;
    if (same && reader == MatrixKind::Dgemm)
      return is_small_dgemm(passes) && is_small_dgemm(reader_passes) ? 4 : 0;
    return is_small_dgemm(passes) ? 4 : gfx950 ? 17 : 9;
  }
  // The accumulator is forwarded to the next instruction of a chain, for 2-pass ones of gfx940 after a gap.
  if (same) return gfx940 && passes == 2 ? 2 : 0;
  if (!gfx940) return passes + (reader == MatrixKind::Dgemm ? 1 : 0);
  if (writer == MatrixKind::Sgemm) return reader == MatrixKind::Xdl ? 0 : passes;
  return passes + 1 + (gfx950 && (passes != 2 || reader == MatrixKind::Xdl) ? 1 : 0);
}

unsigned HazardTable::matrix_to_src_ab(MatrixKind writer, unsigned passes) const {
  if (writer == MatrixKind::Dgemm) return matrix_to_valu(writer, passes);
  if (gfx940 && writer == MatrixKind::Sgemm) return passes + 2;
  return passes + 3 + (gfx950 && passes != 2 ? 1 : 0);
}

unsigned HazardTable::matrix_to_valu(MatrixKind writer, unsigned passes) const {
  if (writer == MatrixKind::Dgemm) return is_small_dgemm(passes) ? 6 : gfx950 ? 19 : 11;
  return matrix_to_src_ab(writer, passes);
}

unsigned HazardTable::matrix_to_memory(MatrixKind writer, unsigned passes) const {
  if (writer == MatrixKind::Dgemm) return is_small_dgemm(passes) ? 9 : 18;
  return matrix_to_src_ab(writer, passes);
}

unsigned HazardTable::matrix_overwritten(MatrixKind writer, unsigned passes) const {
  if (writer == MatrixKind::Dgemm) return is_small_dgemm(passes) ? 6 : 11;
  return matrix_to_src_ab(writer, passes);
}

unsigned HazardTable::matrix_src_c_overwritten(MatrixKind reader, unsigned passes) const {
  const bool has = reader == MatrixKind::Xdl || (!gfx940 && reader == MatrixKind::Sgemm);
  return has ? passes - 1 : 0;
}

} // namespace asmevo::isa
