"""The splits that each mode may use on one pool, with the limit of each.

    PlanningMode ──► rules, what trainer lanes hold ──► proposed splits for every fragment size ──► limit by split

Invariant: no split is offered whose lanes do not fit in memory, and none depends on the order in which lanes are
listed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.lane_kinds import LaneKinds
from worker.scheduling.planning.limits import ScheduleRules, batch_limits
from worker.scheduling.planning.modes import PlanningMode
from worker.scheduling.planning.proposals import proposed_splits
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import Accelerator


@dataclass(frozen=True, slots=True, order=True)
class Split:
    """How many lanes of each kind train, and the size of fragments."""

    trainers: tuple[int, ...]
    """[kind]: the number of lanes that train."""
    fragment_size: int

    @property
    def num_trainer(self) -> int:
        return sum(self.trainers)

    def distance(self, other: "Split") -> int:
        """The number of lanes that change their role between the two."""
        return sum(abs(mine - theirs) for mine, theirs in zip(self.trainers, other.trainers, strict=True))


@dataclass(frozen=True, eq=False, kw_only=True)
class ModeLimits:
    """Limits by split for one pool, computed when they are asked for."""

    work: Workload
    costs: PoolCosts
    devices: Sequence[Accelerator]
    fragment_sizes: Sequence[int]
    advantage_std: Literal["group", "batch"] = "group"
    size_is_known: bool = True
    """Whether the model has a profile of its own; otherwise every lane is assumed to have memory for it, because an
    assumed size must not rule out a split."""
    gpus_per_trainer: int | None = None
    """The GPUs of each lane that may train, which are equally many in a gang; `None` for any number, as in a bound."""

    @cached_property
    def kinds(self) -> LaneKinds:
        """The pool's kinds; what they hold, and a fragment's seconds, depend on the mode and the fragment size."""
        return LaneKinds.of(self.expected_costs, self.fragment_sizes[0], self.devices)

    @cached_property
    def expected_costs(self) -> PoolCosts:
        """The costs with what is expected of groups without spread, for which limits are computed."""
        return self.costs.expected(self.work)

    @cached_property
    def _limits_by_mode(self) -> dict[tuple[PlanningMode, bool], dict[Split, float]]:
        return {}

    def least_seconds(self, mode: PlanningMode) -> float:
        """Seconds of a batch that no split of this mode beats; infinite where no split fits in memory."""
        return min(
            (least for lends in mode.may_lend for least in self.limits(mode, lends=lends).values()), default=math.inf
        )

    def limits(self, mode: PlanningMode, *, lends: bool) -> Mapping[Split, float]:
        """The limit of every proposed split of the mode that fits in memory, in the mode's settings that lend trainer
        lanes if `lends`, in the others otherwise."""
        return self._all_limits(mode, lends=lends)

    def _all_limits(self, mode: PlanningMode, *, lends: bool) -> dict[Split, float]:
        if (mode, lends) not in self._limits_by_mode:
            found: dict[Split, float] = {}
            for size in self.fragment_sizes:
                found |= self._of_size(mode, size, lends=lends)
            self._limits_by_mode[mode, lends] = found
        return self._limits_by_mode[mode, lends]

    def limit(self, mode: PlanningMode, split: Split, *, lends: bool) -> float:
        """The limit of any one split; infinite where it does not fit in memory."""
        algebra = self.work.with_fragment_size(split.fragment_size).algebra
        kinds, trainers = self.kinds_for(split.fragment_size, mode.max_staleness), np.array([split.trainers])
        if not kinds.fit(trainers, lends=lends).all():
            return math.inf
        rules = self._rules(mode, lends=lends)
        return float(batch_limits(algebra, self.expected_costs, kinds, trainers, rules)[0])

    def propose(self, mode: PlanningMode, split: Split) -> None:
        """Add one more split to `limits`, where it fits in memory."""
        for lends in mode.may_lend:
            least = self.limit(mode, split, lends=lends)
            if math.isfinite(least):
                self._all_limits(mode, lends=lends)[split] = least

    def expected(self, mode: PlanningMode, *, lends: bool) -> Mapping[Split, float]:
        """For the splits of `limits`: what they would take if lanes were lent only while none trains, and generated
        whole fragments in two batches at staleness 1. It bounds nothing, but tells splits apart whose limits are
        alike."""
        limits = self.limits(mode, lends=lends)
        if not (lends or mode.max_staleness):
            return limits
        rules = self._rules(mode, lends=lends)
        rules = replace(rules, trains_without_lent=False, whole_fragments_ahead=True)
        found: dict[Split, float] = {}
        for size in self.fragment_sizes:
            splits = [split for split in limits if split.fragment_size == size]
            if splits:
                algebra, kinds = self.work.with_fragment_size(size).algebra, self.kinds_for(size, mode.max_staleness)
                trainers = np.array([split.trainers for split in splits])
                seconds = batch_limits(algebra, self.expected_costs, kinds, trainers, rules)
                found |= zip(splits, seconds.tolist(), strict=True)
        return found

    def _rules(self, mode: PlanningMode, *, lends: bool) -> ScheduleRules:
        return mode.rules(self.advantage_std, lends=lends, equal_counts=self.costs.equal_counts)

    @cached_property
    def _kinds_by_size(self) -> dict[tuple[int, int], LaneKinds]:
        return {}

    def kinds_for(self, fragment_size: int, max_staleness: int) -> LaneKinds:
        """The pool's kinds with fragments of one size, and with what they have memory for."""
        key = fragment_size, max_staleness
        if key not in self._kinds_by_size:
            self._kinds_by_size[key] = self._fitting_kinds(fragment_size, max_staleness)
        return self._kinds_by_size[key]

    def _fitting_kinds(self, fragment_size: int, max_staleness: int) -> LaneKinds:
        kinds = self.kinds.at_size(fragment_size)
        if self.size_is_known:
            work = self.work.with_fragment_size(fragment_size).at_staleness(max_staleness)
            kinds = kinds.within_memory(work, self.devices)
        return kinds.that_train(self.devices, self.trains_on)

    def trains_on(self, device: Accelerator) -> bool:
        """Whether a lane of that device may train, memory aside."""
        if self.gpus_per_trainer not in (None, device.num_gpus) or device.num_gpus not in self.work.training_widths:
            return False
        return not self.size_is_known or self.work.divided_shape.divides(device.num_gpus)

    def _of_size(self, mode: PlanningMode, fragment_size: int, *, lends: bool) -> dict[Split, float]:
        algebra = self.work.with_fragment_size(fragment_size).algebra
        rules, kinds = self._rules(mode, lends=lends), self.kinds_for(fragment_size, mode.max_staleness)
        if mode.is_colocated:
            trainers = kinds.number[None, :]
            seconds = batch_limits(algebra, self.expected_costs, kinds, trainers, rules)
            seconds = np.where(kinds.fit(trainers, lends=lends), seconds, np.inf)
        else:
            trainers, seconds = proposed_splits(algebra, self.expected_costs, kinds, rules, lends=lends)
        return {
            Split(tuple(split), fragment_size): at_least
            for split, at_least in zip(trainers.tolist(), seconds.tolist(), strict=True)
            if math.isfinite(at_least)
        }
