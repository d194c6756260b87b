"""How long emulated work takes: the cost table of a plan or of a run, with seeded variation on top.

Invariant: a duration depends on the emulation, the lane, the kind of work and how many times the lane has done it, on
nothing else; the ranks of a gang draw the same one, as the collectives inside would make them.
"""

import time
import zlib
from collections import Counter
from typing import Annotated

import numpy as np
from pydantic import Field

from worker.contracts.base import Contract, Count, Index
from worker.contracts.events import WorkCost
from worker.scheduling.core.costs import Cost, CostKind, parse_costs


class Emulation(Contract):
    """What the emulated lanes go by."""

    costs: tuple[WorkCost, ...]
    """Work that is not named takes no time."""
    relative_spread: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """Each duration is drawn evenly from expected × (1 ± this)."""
    seed: Index = 0
    adapter_num_bytes: Count = 1 << 20
    """Really made, sent through the object store and checksummed by each puller."""


class EmulatedTiming:
    """Waits in an actor's process, as long as the lane named would have worked."""

    def __init__(self, emulation: Emulation) -> None:
        self._emulation = emulation
        self._costs = parse_costs(emulation.costs)
        self._num_calls: Counter[tuple[str, CostKind]] = Counter()

    def keep(self, start: float, lane: str, kind: CostKind, num_units: int = 1) -> None:
        """Return when the work that began at `start` (of the monotonic clock) is due.

        What the actor really did since then, making or checking bytes, counts as part of the work.
        """
        due = start + self._costs.get((lane, kind), Cost()).seconds(num_units) * self._factor(lane, kind)
        time.sleep(max(0.0, due - time.monotonic()))

    def _factor(self, lane: str, kind: CostKind) -> float:
        if not self._emulation.relative_spread:
            return 1.0
        number = self._num_calls[lane, kind]
        self._num_calls[lane, kind] += 1
        drawn = np.random.default_rng([self._emulation.seed, zlib.crc32(f"{lane}|{kind}".encode()), number])
        return float(1.0 + self._emulation.relative_spread * drawn.uniform(-1.0, 1.0))
