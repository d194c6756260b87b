"""The kinds of lanes in a pool: lanes of equal costs and equal devices are interchangeable.

    PoolCosts, devices ──► LaneKinds ──► limits, bounds and the search count lanes of each kind, and never name one

Invariant: kinds and their order follow from the lanes' properties alone, so what is computed from them does not depend
on the order in which lanes are listed.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from worker.scheduling.core.costs import Cost
from worker.scheduling.planning.cost_estimates import LaneCosts, PoolCosts
from worker.scheduling.planning.memory import MemoryRole, lane_memory
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import Accelerator

Seconds = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

_NO_TIME = 1e-12
"""Seconds that stand in for generation that costs nothing, of which any number of fragments would fit."""


@dataclass(frozen=True, eq=False)
class LaneKinds:
    """Lanes of equal costs, and on equal devices, as one kind. Arrays have one entry per kind; costs are in seconds."""

    of_lane: tuple[int, ...]
    """[lane of the pool]: the lane's kind."""
    number: Counts
    """The number of lanes of the kind."""
    generate: tuple[Cost, ...]
    """Generation of a fragment of any size."""
    fragment: Seconds
    """Generation of one fragment of the size at hand."""
    pull: Seconds
    lend: Seconds
    reclaim: Seconds
    micro_batch: Seconds
    commit: Seconds
    publish: Seconds
    shared_commit: Seconds
    """The part of a commit that is divided by the number of ranks."""
    shared_publish: Seconds
    """The part of a publish that is divided by the number of ranks."""
    shared_switch: Seconds
    """The part of either switch that is divided by the number of ranks."""
    can_generate: npt.NDArray[np.bool_]
    """Whether a rollout lane fits in memory, and the number of its GPUs divides what they share."""
    ranks_to_train: Seconds
    """The number of ranks from which on a trainer lane fits in memory; infinite where it never fits."""
    ranks_to_do_both: Seconds
    """The same of a trainer lane that generates too."""

    @classmethod
    def of(cls, costs: PoolCosts, fragment_size: int, devices: Sequence[Accelerator] = ()) -> Self:
        """Kinds whose lanes all fit in memory. With `devices`, one for each lane, lanes on different ones are of
        different kinds."""
        on: Sequence[Accelerator | None] = devices or [None] * len(costs.lanes)
        lanes = list(zip(costs.lanes, on, strict=True))
        distinct = {lane: repr(lane) for lane in set(lanes)}
        kinds = {lane: kind for kind, lane in enumerate(sorted(distinct, key=distinct.__getitem__))}
        of_lane = tuple(kinds[lane] for lane in lanes)
        counted = Counter(of_lane)
        each: list[LaneCosts] = [lane for lane, _ in kinds]
        ones = np.ones(len(kinds))
        return cls(
            of_lane,
            np.array([counted[kind] for kind in range(len(kinds))]),
            tuple(lane.generate for lane in each),
            _fragment_seconds([lane.generate for lane in each], fragment_size),
            np.array([lane.pull for lane in each]),
            np.array([lane.lend for lane in each]),
            np.array([lane.reclaim for lane in each]),
            np.array([lane.accumulate.per_unit for lane in each]),
            np.array([lane.commit for lane in each]),
            np.array([lane.publish for lane in each]),
            np.array([lane.shared_commit for lane in each]),
            np.array([lane.shared_publish for lane in each]),
            np.array([lane.shared_switch for lane in each]),
            ones > 0,
            ones,
            ones,
        )

    def at_size(self, fragment_size: int) -> "LaneKinds":
        """The same kinds for fragments of another size."""
        return replace(self, fragment=_fragment_seconds(self.generate, fragment_size))

    def that_train(self, devices: Sequence[Accelerator], train: Callable[[Accelerator], bool]) -> "LaneKinds":
        """The same kinds of which only those `train` for whose device that is true, whatever their memory. `devices`:
        as in `within_memory`."""
        trains = np.array([train(device) for device in self._devices(devices)])
        return replace(
            self,
            ranks_to_train=np.where(trains, self.ranks_to_train, math.inf),
            ranks_to_do_both=np.where(trains, self.ranks_to_do_both, math.inf),
        )

    def within_memory(self, work: Workload, devices: Sequence[Accelerator]) -> "LaneKinds":
        """The same kinds with what their devices have memory for. `devices`: of each lane of the pool, those that the
        kinds were made with."""
        each = self._devices(devices)
        num_lanes = int(self.number.sum())
        return replace(
            self,
            can_generate=np.array([_can_generate(work, device) for device in each]),
            ranks_to_train=np.array([_fewest_ranks(work, device, MemoryRole.TRAINER, num_lanes) for device in each]),
            ranks_to_do_both=np.array([_fewest_ranks(work, device, MemoryRole.BOTH, num_lanes) for device in each]),
        )

    def _devices(self, devices: Sequence[Accelerator]) -> list[Accelerator]:
        """The device of each kind, where `devices` has that of each lane."""
        device_of = dict(zip(self.of_lane, devices, strict=True))
        return [device_of[kind] for kind in range(self.number.size)]

    @cached_property
    def num_lanes(self) -> int:
        return int(self.number.sum())

    def first_lanes(self, numbers: Sequence[int]) -> tuple[int, ...]:
        """Indices, in the pool as it is listed, of the first so many lanes of each kind."""
        left, lanes = list(numbers), []
        for lane, kind in enumerate(self.of_lane):
            if left[kind]:
                left[kind] -= 1
                lanes.append(lane)
        return tuple(lanes)

    def numbers_of(self, lanes: Iterable[int]) -> tuple[int, ...]:
        """How many lanes of each kind there are among those with these indices."""
        number = Counter(self.of_lane[lane] for lane in lanes)
        return tuple(number[kind] for kind in range(self.number.size))

    def fit(self, trainers: Counts, *, lends: bool) -> npt.NDArray[np.bool_]:
        """[split]: whether every lane has memory for what it does, where trainer lanes generate too if the mode
        `lends`. `trainers`: [split, kind]."""
        fewest = self.ranks_to_do_both if lends else self.ranks_to_train
        has_ranks = trainers.sum(axis=1, keepdims=True) >= fewest
        fits = (self.can_generate | (trainers == self.number)) & (has_ranks | (trainers == 0))
        return np.asarray(fits.all(axis=1))


def _fragment_seconds(generate: Sequence[Cost], fragment_size: int) -> Seconds:
    return np.maximum([cost.seconds(fragment_size) for cost in generate], _NO_TIME)


def _can_generate(work: Workload, device: Accelerator) -> bool:
    return work.can_be_generated_on(device) and lane_memory(work, device, MemoryRole.ROLLOUT).fits(device)


def _fewest_ranks(work: Workload, device: Accelerator, role: MemoryRole, most: int) -> float:
    """The number of ranks, at most `most`, from which on a lane fits: sharded state takes less with more ranks."""
    if lane_memory(work, device, role).fits(device):
        return 1.0
    if not lane_memory(work, device, role, num_ranks=most).fits(device):
        return math.inf
    too_few = 1
    while most - too_few > 1:
        middle = (too_few + most) // 2
        if lane_memory(work, device, role, num_ranks=middle).fits(device):
            most = middle
        else:
            too_few = middle
    return float(most)
