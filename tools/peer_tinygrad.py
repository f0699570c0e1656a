#!/usr/bin/env python3
"""Times tinygrad's CDNA emulator (test/mockgpu/amd/emu.py) on kernels/samples/valu_mix.hip, for docs/performance.md.

usage: tools/peer_tinygrad.py TINYGRAD_CHECKOUT build/kernels/valu_mix.gfx942.co [ROUNDS [WORKGROUPS]]

Prints seconds of the second run (the first compiles its instructions). How many instructions that is, `asmevo run` says for the
same grid.
"""
import ctypes
import mmap
import os
import struct
import subprocess
import sys
import time


def kernel_text(path):
    """The code section, and the kernel's offset in it."""
    listing = subprocess.run(["/usr/lib/llvm-22/bin/llvm-readelf", "-S", "-s", "-W", path], capture_output=True, text=True,
                             check=True).stdout
    address = offset = size = entry = None
    for line in listing.splitlines():
        words = line.split()
        if ".text" in words:
            at = words.index(".text")
            address, offset, size = (int(w, 16) for w in words[at + 2:at + 5])
        if len(words) > 7 and words[-1] == "valu_mix" and words[3] == "FUNC":
            entry = int(words[1], 16)
    with open(path, "rb") as file:
        return file.read()[offset:offset + size], entry - address


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    checkout, path = os.path.abspath(sys.argv[1]), sys.argv[2]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 1000
    groups = int(sys.argv[4]) if len(sys.argv) > 4 else 4
    sys.path.insert(0, checkout)
    sys.modules.pop("test", None)  # Python's own package of that name
    from test.mockgpu.amd.emu import run_asm

    text, entry = kernel_text(path)
    code = mmap.mmap(-1, (len(text) + mmap.PAGESIZE) // mmap.PAGESIZE * mmap.PAGESIZE)
    code.write(text)
    at = ctypes.addressof(ctypes.c_char.from_buffer(code))
    out = (ctypes.c_float * (groups * 256))()
    arguments = ctypes.create_string_buffer(256)
    struct.pack_into("<QI", arguments, 0, ctypes.addressof(out), rounds)
    struct.pack_into("<IIIHHH", arguments, 16, groups, 1, 1, 256, 1, 1)  # block counts, group sizes
    kernarg = ctypes.addressof(arguments)
    workgroup_id_x = 0x84  # compute_pgm_rsrc2 of the kernel: two user SGPRs, workgroup id x
    for _ in range(2):
        start = time.perf_counter()
        run_asm(at + entry, len(text), groups, 1, 1, 256, 1, 1, kernarg, arch="cdna",
                user_data=[kernarg & 0xffffffff, kernarg >> 32], rsrc2=workgroup_id_x)
        seconds = time.perf_counter() - start
    print(f"{seconds:.3f} s, {groups} workgroups, {rounds} rounds; out[0:4] = {list(out[:4])}")


if __name__ == "__main__":
    main()
