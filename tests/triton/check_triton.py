#!/usr/bin/env python3
"""Runs Triton kernels on the emulator and compares them with kernels/triton/reference.py.

    check_triton.py PROGRAM OBJECTS [--kernel NAME]... [--shape SHAPE]...

PROGRAM is asmevo, OBJECTS what kernels/triton/build.py made. A comparison that lets mistakes pass proves nothing, so
each output is also compared with mistakes in it, which must be refused.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
KERNELS = pathlib.Path(__file__).resolve().parents[2] / "kernels" / "triton"
sys.path.append(str(KERNELS))

import numpy as np

import captured
import reference


def excess(output, values):
    """The largest difference, as a part of what is allowed; infinite where only one is NaN or infinity."""
    if output.values.shape != values.shape:
        return np.inf
    same = output.values == values  # infinities too
    with np.errstate(invalid="ignore", divide="ignore"):
        parts = np.where(same, 0, np.abs(values - output.values) / output.allowed)
    return float(np.where(np.isnan(parts), np.inf, parts).max())


def mistakes(values, before):
    """Name -> values that are wrong in a way a kernel can be. `before`: of the buffer, before the launch."""
    last = np.unravel_index(np.argmax(np.where(np.isfinite(values), np.abs(values), 0)), values.shape)
    unwritten = values.copy()
    unwritten[last] = np.nan
    return {
        "two percent too large": values * 1.02,
        "nothing but zeros": np.zeros_like(values),
        "rows in the wrong places": np.roll(values, 1, axis=-2),
        "columns in the wrong places": np.roll(values, 1, axis=-1),
        "nothing done": before,
        "an element that was not written": unwritten,
    }


def run(program, name, shape, objects):
    """Inputs and outputs of a launch, each a dictionary."""
    command = [program, "run", str(objects / f"{name}.gfx942.co"), "--launch", str(KERNELS / f"{name}.toml"),
               "--shape", shape]
    with tempfile.TemporaryDirectory() as folder:
        for more in (["--save-capture", f"{folder}/capture"], ["--dump", f"{folder}/dump"]):
            done = subprocess.run(command + more, capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{name}, {shape}: {' '.join(command + more)}: {(done.stdout + done.stderr).strip()[-500:]}")
        before = captured.views(f"{folder}/capture")
        after = {}
        for file in pathlib.Path(folder, "dump").glob("*.bin"):
            values, dtype = before[file.stem]
            after[file.stem] = captured.decoded(file.read_bytes(), dtype, values.shape)
    return {buffer: values for buffer, (values, _) in before.items()}, after


def check(program, name, shape, objects):
    """The number of things that are wrong."""
    before, after = run(program, name, shape, objects)
    wrong = 0
    for output in reference.REFERENCES[name](before):
        values = after.pop(output.buffer)
        part = excess(output, values)
        with np.errstate(invalid="ignore"):
            difference = np.nanmax(np.abs(values - output.values))
        print(f"{name}, {shape}: {output.buffer}{list(values.shape)}: largest difference {difference:.3g}, "
              f"at most {part:.2f} of what is allowed")
        if not part <= 1:
            print(f"FAILED: {name}, {shape}: {output.buffer} differs")
            wrong += 1
        for mistake, mistaken in mistakes(output.values, before[output.buffer]).items():
            if excess(output, mistaken) <= 1:
                print(f"FAILED: {name}, {shape}: {output.buffer} is accepted with a mistake: {mistake}")
                wrong += 1
    for buffer in after:
        print(f"FAILED: {name}, {shape}: nothing is known of {buffer}")
        wrong += 1
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", metavar="PROGRAM")
    parser.add_argument("objects", type=pathlib.Path, metavar="OBJECTS")
    parser.add_argument("--kernel", action="append", choices=sorted(reference.REFERENCES))
    parser.add_argument("--shape", action="append")
    options = parser.parse_args()
    wrong = sum(check(options.program, name, shape, options.objects)
                for name in options.kernel or sorted(reference.REFERENCES)
                for shape in options.shape or ["tiny", "odd"])
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
