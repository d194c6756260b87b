"""`make bench-transport`: trajectories through Ray's shared memory on one node, against a copy of the same bytes.

Each round copies, for every size, the same trajectories three ways, one after the other, so that what else the machine
does falls on all alike: a plain copy into memory that was touched before (`memcpy`), a put and a get of packed
trajectories with their tensors read in place, and a put and a get of pickled tensors with the latents between two steps
stored twice, which is how they travelled before they were packed. The rate counts the bytes of the packed form.

All of the store's memory is touched first, as in a run that has gone on for a while: fresh pages cost more than the
copy into them.
"""

import argparse
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import ray
import torch

from tests.bench.sized_trajectories import trajectories_of
from worker.engine.transport.packed_trajectories import PackedTrajectories
from worker.engine.types import Trajectories

MIB = 2**20
SIZES_MIB = (1, 4, 16, 64, 256)
"""From a fragment of pictures to one of clips."""
WARM_UP_ROUNDS = 2
"""Rounds that do not count."""
STORE_BYTES = 3 * 2**30
"""Room for what is under way at the largest size, with what the store has not freed yet."""
FREE_SECONDS = 2.0
"""How long Ray may take to free what was released."""
LARGE_MIB = 64
GOAL = 0.8
"""The share of a plain copy's rate that sizes from `LARGE_MIB` on should reach."""
OUTPUT = Path("var/bench/transport.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The median over all rounds for one size; rates are in GiB/s."""

    mib: int
    memcpy: float
    packed: float
    pickled: float
    packed_share: float
    """The median over rounds of the packed rate as a share of the plain copy's in the same round."""
    packed_milliseconds: float
    """A put and a get."""


def packed_round_trip(trajectories: Trajectories) -> object:
    found: PackedTrajectories = ray.get(ray.put(PackedTrajectories.of(trajectories)))
    return found.unpacked()


def pickled_round_trip(stacked: tuple[torch.Tensor, torch.Tensor]) -> object:
    return ray.get(ray.put(stacked))


def touch_store() -> None:
    """Write to all of the store's memory once."""
    block = np.ones(LARGE_MIB * MIB, dtype=np.uint8)
    # A little is left, since a full store would spill to disk.
    held = [ray.put(block) for _ in range(int(0.9 * STORE_BYTES / block.nbytes))]
    del held
    time.sleep(FREE_SECONDS)


def seconds_of(call: Callable[[], Any]) -> float:
    began = time.perf_counter()
    kept = call()
    seconds = time.perf_counter() - began
    del kept
    return seconds


def measure(mib: int, num_rounds: int) -> Row:
    trajectories = trajectories_of(mib * MIB)
    states = [trajectories.states[step] for step in sorted(trajectories.states)]
    stacked = torch.stack(states[:-1], 1), torch.stack(states[1:], 1)
    source = np.frombuffer(np.random.default_rng(0).bytes(mib * MIB), dtype=np.uint8)
    target = np.ones_like(source)
    calls: dict[str, Callable[[], Any]] = {
        "memcpy": lambda: np.copyto(target, source),
        "packed": lambda: packed_round_trip(trajectories),
        "pickled": lambda: pickled_round_trip(stacked),
    }
    found: dict[str, list[float]] = {name: [] for name in calls}
    for number in range(WARM_UP_ROUNDS + num_rounds):
        for name, call in calls.items():
            seconds = seconds_of(call)
            if number >= WARM_UP_ROUNDS:
                found[name].append(seconds)
    gib = mib / 1024
    shares = [copied / packed for copied, packed in zip(found["memcpy"], found["packed"], strict=True)]
    return Row(
        mib=mib,
        memcpy=gib / statistics.median(found["memcpy"]),
        packed=gib / statistics.median(found["packed"]),
        pickled=gib / statistics.median(found["pickled"]),
        packed_share=statistics.median(shares),
        packed_milliseconds=1e3 * statistics.median(found["packed"]),
    )


@contextmanager
def local_store() -> Iterator[None]:
    """Ray with a store of its own on this machine, all of whose memory was touched."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        ray.init(
            num_cpus=1,
            include_dashboard=False,
            object_store_memory=STORE_BYTES,
            _temp_dir=folder,
            logging_level="ERROR",
        )
        try:
            touch_store()
            yield
        finally:
            ray.shutdown()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", type=Path, default=OUTPUT)
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with local_store():
        rows = [measure(mib, arguments.rounds) for mib in SIZES_MIB]
    print(f"load average {load:.1f} on {os.cpu_count()} cores; GiB/s of the packed form's bytes, medians")
    print(f"{'MiB':>5} {'memcpy':>8} {'packed':>8} {'pickled':>8} {'packed/memcpy':>14} {'put+get ms':>11}")
    for row in rows:
        print(
            f"{row.mib:5d} {row.memcpy:8.2f} {row.packed:8.2f} {row.pickled:8.2f} {row.packed_share:14.0%} "
            f"{row.packed_milliseconds:11.2f}"
        )
    reached = all(row.packed_share >= GOAL for row in rows if row.mib >= LARGE_MIB)
    print(f"from {LARGE_MIB} MiB on at least {GOAL:.0%} of a plain copy: {'reached' if reached else 'NOT reached'}")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps({"load": load, "rows": [asdict(row) for row in rows]}, indent=2) + "\n")


if __name__ == "__main__":
    main()
