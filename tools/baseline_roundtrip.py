#!/usr/bin/env python3
"""What `asmevo roundtrip` is compared with: the same round trip by separate LLVM tools, one process after another.

For each code object: llvm-readelf (header, symbols, metadata), llvm-objdump (kernel descriptors), llvm-objdump
(code), a .s file put together from their output, llvm-mc, ld.lld, and a comparison of .text, the kernel descriptors
(without the entry offset, which linking decides) and the metadata note. Known quirks of the tools' output are repaired,
as is fair. The time in the processes is printed beside the total, so that this script's own share can be seen, and the CPU
time, which a busy machine changes little.

    tools/baseline_roundtrip.py DIR [--limit N]     every *.co under DIR, or N of them spread evenly

Serves docs/performance.md; nothing of asmevo is used.
"""
import argparse
import pathlib
import re
import resource
import statistics
import struct
import subprocess
import sys
import tempfile
import time

TOOLS = pathlib.Path("/usr/lib/llvm-22/bin")
MACHINES = {0x3F: "gfx90a", 0x4C: "gfx942", 0x4F: "gfx950"}  # EF_AMDGPU_MACH_*, llvm/BinaryFormat/ELF.h
SETTINGS = {0: "", 1: "", 2: "-", 3: "+"}  # unsupported, any, off, on
DESCRIPTOR_SIZE, ENTRY_OFFSET = 64, slice(16, 24)

tool_seconds = 0.0


def run(tool, *arguments):
    global tool_seconds
    start = time.perf_counter()
    done = subprocess.run([TOOLS / tool, *arguments], capture_output=True, text=True)
    tool_seconds += time.perf_counter() - start
    if done.returncode != 0:
        raise RuntimeError(f"{tool}: {done.stderr.strip().splitlines()[0] if done.stderr.strip() else 'failed'}")
    return done.stdout


def sections(data):
    """Name -> contents of an ELF64 file's sections."""
    table, = struct.unpack_from("<Q", data, 0x28)
    count, names_index = struct.unpack_from("<HH", data, 0x3C)
    headers = [struct.unpack_from("<IIQQQQ", data, table + 64 * i) for i in range(count)]
    names_offset = headers[names_index][4]
    result = {}
    for name, kind, _, _, offset, size in headers:
        end = data.index(b"\0", names_offset + name)
        result[data[names_offset + name:end].decode()] = b"" if kind == 8 else data[offset:offset + size]
    return result


def target_id(data):
    flags, = struct.unpack_from("<I", data, 0x30)
    target = MACHINES[flags & 0xFF]
    for name, shift in (("sramecc", 10), ("xnack", 8)):
        setting = SETTINGS[flags >> shift & 3]
        target += f":{name}{setting}" if setting else ""
    return target


def repaired_descriptors(listing):
    """The .amdhsa_kernel blocks of a listing, as the assembler takes them."""
    lines = []
    for line in re.findall(r"^(?:\.amdhsa_kernel.*|\t\.amdhsa_.*|\.end_amdhsa_kernel)$", listing, re.M):
        if line == "\t.amdhsa_reserve_xnack_mask 0":
            continue  # refused where the target leaves xnack open
        if match := re.fullmatch(r"\t\.amdhsa_next_free_sgpr (\d+)", line):
            # Printed in granules of 8 with the 6 reserved ones inside.
            line = f"\t.amdhsa_next_free_sgpr {min(102, max(0, int(match[1]) - 6))}"
        lines.append(line)
    return lines


def code(listing):
    """Labels and instructions of a disassembly."""
    lines = []
    for line in listing.splitlines():
        if match := re.fullmatch(r"[0-9a-f]{16} <(.+)>:", line):
            lines.append(f"{match[1]}:")
        elif line.startswith("\t"):
            text, _, words = line.partition("//")
            if "v_mfma_scale_" in text and "cbsz:4 blgp:4" in text:  # may carry bits that text cannot express
                text = "\t.long " + ", ".join("0x" + word for word in words.split(":")[1].split("<")[0].split())
            lines.append(text.rstrip())
    return lines


def assembly(path, data):
    header = run("llvm-readelf", "--file-header", "--symbols", "--notes", "--wide", str(path))
    descriptors = run("llvm-objdump", "-D", "-j", ".rodata", str(path))
    listing = run("llvm-objdump", "-d", "-j", ".text", str(path))
    metadata = re.search(r"---\n(.*?)^\.\.\.$", header, re.M | re.S)
    lines = [f'.amdgcn_target "amdgcn-amd-amdhsa--{target_id(data)}"', f".amdhsa_code_object_version {data[8] + 2}", ".text"]
    for match in re.finditer(r"\s(FUNC|OBJECT)\s+GLOBAL\s+(\w+)\s+\d+ (\S+)", header):
        if match[1] == "FUNC":
            lines += [f".globl {match[3]}", ".p2align 8", f".type {match[3]},@function"]
        if match[2] != "DEFAULT":
            lines.append(f".{match[2].lower()} {match[3]}")
    lines += code(listing) + [".rodata", ".p2align 6"] + repaired_descriptors(descriptors)
    return "\n".join(lines + [".amdgpu_metadata", "---", metadata[1].rstrip(), "...", ".end_amdgpu_metadata", ""])


def masked(descriptors):
    data = bytearray(descriptors)
    for at in range(0, len(data) - DESCRIPTOR_SIZE + 1, DESCRIPTOR_SIZE):
        data[at + ENTRY_OFFSET.start:at + ENTRY_OFFSET.stop] = bytes(8)
    return bytes(data)


def round_trip(path, work):
    """None, or what is different."""
    data = path.read_bytes()
    source, relocatable, linked = work / "k.s", work / "k.o", work / "k.co"
    source.write_text(assembly(path, data))
    processor = target_id(data).split(":")[0]
    run("llvm-mc", "--triple=amdgcn-amd-amdhsa", f"--mcpu={processor}", "--filetype=obj", str(source), "-o", str(relocatable))
    run("ld.lld", "-shared", str(relocatable), "-o", str(linked))
    before, after = sections(data), sections(linked.read_bytes())
    for name, view in ((".text", bytes), (".rodata", masked), (".note", bytes)):
        if view(before.get(name, b"")) != view(after.get(name, b"")):
            return f"{name} differs"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--limit", type=int, default=0, help="this many objects, spread evenly over the sorted paths")
    options = parser.parse_args()
    objects = sorted(options.folder.rglob("*.co"))
    if not objects:
        sys.exit(f"{options.folder}: no *.co files")
    if 0 < options.limit < len(objects):
        objects = [objects[i * len(objects) // options.limit] for i in range(options.limit)]
    seconds, identical = [], 0
    with tempfile.TemporaryDirectory() as work:
        for path in objects:
            start = time.perf_counter()
            try:
                problem = round_trip(path, pathlib.Path(work))
            except (RuntimeError, KeyError, TypeError, struct.error) as error:
                problem = str(error)
            seconds.append(time.perf_counter() - start)
            identical += problem is None
            if problem:
                print(f"{path}: {problem}")
    cpu = sum(use.ru_utime + use.ru_stime for use in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
    print(f"{sum(seconds):.1f} s ({cpu:.1f} s of CPU time), {tool_seconds:.1f} s of it in the tools; "
          f"median {statistics.median(seconds) * 1000:.1f} ms an object, longest {max(seconds) * 1000:.1f} ms")
    print(f"{len(objects)} objects, {identical} identical, {len(objects) - identical} failed")


main()
