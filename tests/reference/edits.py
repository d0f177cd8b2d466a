# SPDX-License-Identifier: Apache-2.0
"""edits.py EDITED_JOB TRACE.csv...: one pipeline stage computes 1.5 times as long, by `--scale` and the engine, and
by hand and the reference interpreter. Every start and end must be equal."""

import csv
import json
import pathlib
import subprocess
import sys

from compare import documents
from reference import Job, replay

STAGE, FACTOR = 2, 1.5


def ranks_of_stage(path):
    """By the column of the file itself."""
    with open(path) as file:
        return {int(row["rank"]) for row in csv.DictReader(file) if int(row["stage"]) == STAGE}


def scale(job, ranks):
    for cls in job.classes:
        assert len(cls["members"]) == 1, "each rank of a trace is a class of its own"
        for node in cls["nodes"] if cls["members"][0] in ranks else []:
            if node["kind"] == "compute":
                node["duration"] = int(node["duration"] * FACTOR + 0.5)


def compare(document, ranks):
    job = Job(document["job"])
    scale(job, ranks)
    times = replay(job, document["eager_bytes"])
    for (rank, node), span in times.items():
        engine = document["times"][rank][2 * node : 2 * node + 2]
        if list(span) != engine:
            raise SystemExit(f"rank {rank}, node {node}: reference {span}, engine {engine}")
    return len(times)


def main():
    edited_job, paths = sys.argv[1], sys.argv[2:]
    compared = 0
    for path in paths:
        if not pathlib.Path(path).exists():
            print(f"skipped: the real data is not here: {path}")
            continue
        edit = f"stage={STAGE} kind=compute factor={FACTOR}"
        with subprocess.Popen([edited_job, path, edit], stdout=subprocess.PIPE, text=True) as process:
            compared += sum(compare(document, ranks_of_stage(path)) for document in documents(process.stdout))
        if process.returncode != 0:
            return 1
    print(f"{compared} nodes are equal")
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())
