#!/usr/bin/env python3
"""Turns the summary.json of a batch of `asmevo optimize FOLDER -o RUNS` into a table in Markdown.

    results_table.py RUNS/summary.json [--title TITLE] [--strip SUFFIX] >docs/results.md

One table for each device, captioned with it: modelled and measured times, and those of different models, do not share one.
Where the batch has not come to its end the table says so.
"""
import argparse
import json
import math
import pathlib
import sys


def time_text(seconds):
    if seconds <= 0:
        return ""
    for factor, unit in ((1e6, "us"), (1e3, "ms")):
        if seconds * factor < 1000:
            return f"{seconds * factor:.4g} {unit}"
    return f"{seconds:.4g} s"


def cell(text):
    return str(text).replace("|", "\\|").replace("\n", " ").replace("<", "&lt;")


def row(kernel, strip):
    faster = kernel["verified"]
    structural = kernel["speedup_structural"]
    return [kernel["kernel"].removesuffix(strip), time_text(kernel["k0_seconds"]),
            time_text(kernel["best_seconds"]) if faster else "",
            f"{kernel['speedup']:.3f}" if faster else "none" if kernel["exit_code"] == 1 else kernel["state"],
            f"{structural:.3f}" if faster and structural else "", kernel["attempts"], f"{kernel['seconds']:.0f}",
            ", ".join(kernel["directions"]) if faster else kernel["why_not"] or ""]


def table(device, kernels, strip):
    lines = [f"**{device}**", "",
             "| kernel | K0 | best | speedup | on models of another structure | attempts | search, s | by, or why not |",
             "|---|---:|---:|---:|---:|---:|---:|---|"]
    lines += ["| " + " | ".join(cell(c) for c in row(k, strip)) + " |" for k in kernels]
    done = [k for k in kernels if k["exit_code"] in (0, 1)]
    if done:
        mean = math.exp(sum(math.log(k["speedup"]) for k in done) / len(done))
        structural = math.exp(sum(math.log(k["speedup_structural"] or 1) for k in done) / len(done))
        faster = sum(k["verified"] for k in done)
        lines += ["", f"{faster} of {len(done)} faster; geometric mean of all {len(done)}: {mean:.3f}, on models of another "
                  f"structure {structural:.3f}."]
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("summary", type=pathlib.Path, metavar="SUMMARY")
    parser.add_argument("--title", default="Results")
    parser.add_argument("--strip", default="", help="end of the kernels' names to leave out (.gfx942)")
    options = parser.parse_args()
    try:
        batch = json.loads(options.summary.read_text())
        kernels = [k for k in batch["kernels"] if not k["same_as"]]
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"results_table.py: {options.summary}: {error}")

    lines = [f"# {options.title}", "",
             "Made by `tools/results_table.py` from the summary of", "", "    " + batch["command"], "",
             f"({batch['made_by']}). A speedup stands here only where the object was verified once more from the disk."]
    if batch["open"]:
        lines.append(f"**{batch['open']} kernels were not done yet.**")
    devices = []
    for k in kernels:
        if k["device"] not in devices:
            devices.append(k["device"])
    for device in sorted(devices, key=lambda d: d is None):
        lines += ["", *table(device or "not timed", [k for k in kernels if k["device"] == device], options.strip)]
    print("\n".join(lines))


if __name__ == "__main__":
    main()
