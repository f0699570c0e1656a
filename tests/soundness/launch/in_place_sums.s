// Eight elements of a work-item in place: element k becomes x[k] + x[0]. What is loaded is stored over
// at once, so that hardly anything can be loaded again, or later.
.include "gfx942_kernels.inc"

kernel in_place_sums
  s_lshl_b32 s10, s2, 13
  v_lshlrev_b32_e32 v1, 2, v0
  v_add_u32_e32 v1, s10, v1
  v_add_u32_e32 v1, 0x1000, v1
  global_load_dword v8, v1, s[4:5] offset:-4096
  global_load_dword v9, v1, s[4:5] offset:-3072
  global_load_dword v10, v1, s[4:5] offset:-2048
  global_load_dword v11, v1, s[4:5] offset:-1024
  global_load_dword v12, v1, s[4:5] offset:0
  global_load_dword v13, v1, s[4:5] offset:1024
  global_load_dword v14, v1, s[4:5] offset:2048
  global_load_dword v15, v1, s[4:5] offset:3072
  s_waitcnt vmcnt(0)
  v_add_f32_e32 v24, v8, v8
  v_add_f32_e32 v25, v9, v8
  v_add_f32_e32 v26, v10, v8
  v_add_f32_e32 v27, v11, v8
  v_add_f32_e32 v28, v12, v8
  v_add_f32_e32 v29, v13, v8
  v_add_f32_e32 v30, v14, v8
  v_add_f32_e32 v31, v15, v8
  global_store_dword v1, v24, s[4:5] offset:-4096
  global_store_dword v1, v25, s[4:5] offset:-3072
  global_store_dword v1, v26, s[4:5] offset:-2048
  global_store_dword v1, v27, s[4:5] offset:-1024
  global_store_dword v1, v28, s[4:5] offset:0
  global_store_dword v1, v29, s[4:5] offset:1024
  global_store_dword v1, v30, s[4:5] offset:2048
  global_store_dword v1, v31, s[4:5] offset:3072
  s_endpgm
end_kernel in_place_sums

kernels 256, in_place_sums, 32, 0
