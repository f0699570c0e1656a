#!/usr/bin/env python3
"""asmevo's other verbs on the Triton kernels: check_tools.py PROGRAM OBJECTS VERB

VERB is roundtrip, check, extract, infer, verify (a kernel against itself, with all cases: ASMEVO_FULL=1 takes all
kernels) or rebuilt (the kernels compiled again elsewhere: the same bytes).
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE.parents[1] / "kernels" / "triton"
NAMES = sorted(file.stem for file in KERNELS.glob("*.toml"))
FULL = os.environ.get("ASMEVO_FULL") == "1"

# What infer gives in place of what the launch file says, and why that is no mistake.
INFERRED_OTHERWISE = {
    ("awq_gemm", "codes"): ("in", "u4"),  # words of eight weights are weights
    ("awq_gemm", "zeros"): ("in", "u4"),
    ("fused_moe", "out"): ("inout", "bf16"),  # sorted_ids says where to store, so some of it might stay as it was
}


class Tools:
    def __init__(self, program, objects):
        self.program, self.objects = program, pathlib.Path(objects)
        self.files = [str(self.objects / f"{name}.gfx942.co") for name in NAMES]

    def run(self, *arguments):
        """Exit code and result; what the program says besides goes to this test's own output."""
        done = subprocess.run([self.program, *arguments], stdout=subprocess.PIPE, text=True)
        return done.returncode, done.stdout

    def roundtrip(self):
        status, text = self.run("roundtrip", "--route", "both", *self.files)
        expect(status == 0 and text.endswith(f"{len(NAMES)} objects, {len(NAMES)} identical, 0 failed\n"), text)

    def check(self):
        """Nothing is found but what docs/triton-kernels.md explains."""
        findings = [f for file in self.files for f in json.loads(self.run("check", "--json", file)[1])["list"]]
        found = sorted(f"{f['function']} {f['rule']}: {f['missing']}" for f in findings)
        expect(found == (HERE / "findings.txt").read_text().splitlines(), json.dumps(findings, indent=2))

    def extract(self):
        """An object out of Triton's cache is the one that build.py wrote."""
        entries = {file.stem: file.parent for file in self.objects.glob("cache/*/*.hsaco")}
        expect(sorted(entries) == NAMES, f"cache entries: {sorted(entries)}")
        for name, entry in entries.items():
            with tempfile.TemporaryDirectory() as folder:
                status, text = self.run("extract", str(entry), "-o", f"{folder}/out")
                taken = [file.read_bytes() for file in pathlib.Path(folder, "out").glob("*.co")]
                expect(status == 0, text)
                expect(taken == [(self.objects / f"{name}.gfx942.co").read_bytes()], f"{name}: other bytes")

    def infer(self):
        """Roles and types of all pointers, with nothing given but what is not in the object: workgroup and LDS."""
        for name in NAMES:
            facts = json.loads((self.objects / f"{name}.json").read_text())
            with tempfile.TemporaryDirectory() as folder:
                status, text = self.run("infer", str(self.objects / f"{name}.gfx942.co"),
                                        "--workgroup", str(64 * facts["num_warps"]),
                                        "--dynamic-lds", str(facts["shared"]), "-o", f"{folder}/launch.toml")
                expect(status == 0, text)
                drafted = pointers(f"{folder}/launch.toml")
            known = pointers(KERNELS / f"{name}.toml")
            # Behind them come Triton's scratch pointers, which are never used.
            expect(len(drafted) == len(known) + 2, f"{name}: {len(drafted)} pointers")
            for (buffer, *ours), (_, *theirs) in zip(known, drafted):
                wanted = INFERRED_OTHERWISE.get((name, buffer), tuple(ours))
                expect(tuple(theirs) == wanted, f"{name}: {buffer} is {wanted}, inferred {theirs}")
            print(f"{name}: {len(known)} pointers right")

    def verify(self):
        for name, file in zip(NAMES, self.files):
            with_all = FULL or name == "softmax"
            status, text = self.run("verify", file, file, "--launch", str(KERNELS / f"{name}.toml"),
                                    *([] if with_all else ["--as-given"]))
            print(f"{name}: {text.splitlines()[-1]}")
            expect(status == 0 and text.splitlines()[-1].startswith("equivalent: "), text)

    def rebuilt(self):
        """From other folders, without the cache. Names of folders must not get into the objects."""
        with tempfile.TemporaryDirectory() as folder:
            shutil.copytree(KERNELS, f"{folder}/elsewhere", ignore=shutil.ignore_patterns("__pycache__"))
            done = subprocess.run([sys.executable, f"{folder}/elsewhere/build.py", f"{folder}/objects"],
                                  capture_output=True, text=True)
            expect(done.returncode == 0, done.stderr)
            for name, file in zip(NAMES, self.files):
                again = pathlib.Path(folder, "objects", f"{name}.gfx942.co").read_bytes()
                expect(again == pathlib.Path(file).read_bytes(), f"{name}: other bytes")


def pointers(launch_file):
    """(name, role, dtype) of the arguments that are buffers, in order."""
    with open(launch_file, "rb") as file:
        launch = tomllib.load(file)
    buffers = {buffer["name"]: buffer for buffer in launch["buffer"]}
    used = [argument["buffer"] for argument in launch["step"][0]["arg"] if "buffer" in argument]
    return [(name, buffers[name]["role"], buffers[name]["dtype"]) for name in used]


def expect(true, text):
    if not true:
        sys.exit(f"FAILED: {text.strip()[-2000:]}")


if __name__ == "__main__":
    verbs = ("roundtrip", "check", "extract", "infer", "verify", "rebuilt")
    if len(sys.argv) != 4 or sys.argv[3] not in verbs:
        sys.exit(f"usage: check_tools.py PROGRAM OBJECTS {'|'.join(verbs)}")
    getattr(Tools(sys.argv[1], sys.argv[2]), sys.argv[3])()
