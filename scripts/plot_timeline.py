#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a timeline.json as a picture: one row per rank, its CPU lane. Needs matplotlib.

    plot_timeline.py TIMELINE.json PICTURE.png [RANK,RANK,...]
"""

import json
import sys

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

COLORS = {"compute": "#4c78a8", "transfer": "#f58518"}


def main():
    source, target = sys.argv[1:3]
    chosen = {int(rank) for rank in sys.argv[3].split(",")} if len(sys.argv) > 3 else None
    with open(source, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    spans = [event for event in events if event["ph"] == "X" and event["tid"] == 0]
    ranks = sorted({span["pid"] for span in spans if chosen is None or span["pid"] in chosen})
    figure, axes = plt.subplots(figsize=(12, 0.45 * len(ranks) + 1.2))
    for row, rank in enumerate(ranks):
        for name, color in COLORS.items():
            bars = [
                (span["ts"] / 1e3, span["dur"] / 1e3)
                for span in spans
                if span["pid"] == rank and span["name"].endswith(name)
            ]
            axes.broken_barh(bars, (row - 0.4, 0.8), facecolors=color, edgecolor="white", linewidth=0.2)
    axes.set_yticks(range(len(ranks)), [f"rank {rank}" for rank in ranks])
    axes.invert_yaxis()
    axes.set_xlabel("ms of the iteration (white: waiting)")
    axes.legend([plt.Rectangle((0, 0), 1, 1, color=color) for color in COLORS.values()], COLORS,
                loc="lower right")
    figure.tight_layout()
    figure.savefig(target, dpi=90)


if __name__ == "__main__":
    main()
