#!/usr/bin/env python3
"""How fast the gates of a batch of `asmevo optimize FOLDER -o RUNS` were, from its runs' databases, as a table in Markdown.

    attempt_rates.py RUNS [--workers 2] [--strip SUFFIX]

An attempt counts where it ended: at G0 or G1 (does not assemble, another interface, a wait that is missing), at G2 (does
something else), or at G3 and behind (was timed). Rates are attempts a second with so many workers at once, by the mean of
what one took.
"""
import argparse
import json
import pathlib
import sqlite3
import statistics


def attempts_of(run):
    database = sqlite3.connect(f"file:{run / 'run.sqlite'}?mode=ro", uri=True)
    return [json.loads(text) for (text,) in database.execute("SELECT evaluation FROM attempts WHERE outcome != 'duplicate'")]


def rate(seconds, workers):
    return workers / statistics.mean(seconds) if seconds else None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", type=pathlib.Path, metavar="RUNS")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--strip", default="", help="end of the runs' names to leave out (.gfx942)")
    options = parser.parse_args()
    print("| kernel | attempts | to G0, G1 | to G2 | to G3 | through G2, 1/s | through G3, 1/s |")
    print("|---|---:|---:|---:|---:|---:|---:|")
    through = {"G2": [], "G3": []}
    for run in sorted(p.parent for p in options.runs.glob("*/run.sqlite")):
        every = attempts_of(run)
        ended = {gate: sum(e["gate"] in gates for e in every)
                 for gate, gates in (("G1", ("G0", "G1")), ("G2", ("G2",)), ("G3", ("G3", "G4")))}
        timed = [e for e in every if e["gate"] in ("G3", "G4")]
        g2 = rate([e["wall_seconds"] - e["timing_seconds"] for e in timed], options.workers)
        g3 = rate([e["wall_seconds"] for e in timed], options.workers)
        through["G2"] += [g2] if g2 else []
        through["G3"] += [g3] if g3 else []
        show = lambda r: f"{r:.2f}" if r else ""
        print(f"| {run.name.removesuffix(options.strip)} | {len(every)} | {ended['G1']} | {ended['G2']} | {ended['G3']} | {show(g2)} | {show(g3)} |")
    if through["G3"]:
        print(f"| **median** | | | | | {statistics.median(through['G2']):.2f} | {statistics.median(through['G3']):.2f} |")


main()
