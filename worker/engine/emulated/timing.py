"""The duration of emulated work: the cost table of a plan or of a run, with seeded random variation.

Invariant: a duration depends only on the emulation, the lane, the kind of work and how often the lane has done it. For
work with collectives the ranks of a gang use one lane name (`GANG`), so they wait equally long, as real ranks do.
"""

import time
import zlib
from collections import Counter
from typing import Annotated

import numpy as np
from pydantic import Field

from worker.contracts.base import BigCount, Contract, Index
from worker.contracts.events import WorkCost
from worker.scheduling.core.costs import Cost, CostKind, parse_costs


class Emulation(Contract):
    """The settings of emulated lanes."""

    costs: tuple[WorkCost, ...]
    """The cost of work by lane and kind; other work takes no time."""
    relative_spread: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The relative variation of durations: each is uniform in expected × (1 ± this)."""
    seed: Index = 0
    """The seed of the variation."""
    share_without_spread: Annotated[float, Field(ge=0, le=1)] = 0.0
    """The share of draws of training groups whose members all get the same reward."""
    adapter_num_bytes: BigCount = 1 << 20
    """Bytes of a published version, which are sent through the object store and checksummed by each lane that pulls."""
    trajectory_num_bytes: BigCount = 1 << 10
    """Bytes that a trajectory is said to have, which decides whether fragments are cut into parts."""


class EmulatedTiming:
    """Waits in an actor's process for as long as the work would have taken."""

    def __init__(self, emulation: Emulation) -> None:
        self._emulation = emulation
        self._costs = parse_costs(emulation.costs)
        self._num_calls: Counter[tuple[str, CostKind]] = Counter()

    def wait_until_due(self, start: float, lane: str, kind: CostKind, num_units: int = 1) -> None:
        """Sleep until work that began at `start` would be complete.

        What the actor has really done since `start`, making or checking bytes, counts as part of the work.

        Args:
            start: the process's monotonic clock when the work began, in seconds.
            lane: the lane whose cost counts; `GANG` for the work of all ranks together.
            kind: the kind of work.
            num_units: trajectories, micro-batches or samples, as `Cost.seconds` counts them.
        """
        due = start + self._costs.get((lane, kind), Cost()).seconds(num_units) * self._factor(lane, kind)
        time.sleep(max(0.0, due - time.monotonic()))

    def _factor(self, lane: str, kind: CostKind) -> float:
        if not self._emulation.relative_spread:
            return 1.0
        number = self._num_calls[lane, kind]
        self._num_calls[lane, kind] += 1
        rng = np.random.default_rng([self._emulation.seed, zlib.crc32(f"{lane}|{kind}".encode()), number])
        return float(1.0 + self._emulation.relative_spread * rng.uniform(-1.0, 1.0))
