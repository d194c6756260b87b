"""The least seconds of a batch, in closed form, for every split of a pool at once.

    lanes of equal costs form one kind; a split says how many lanes of each kind train
    batch seconds = the smallest T in which all fragments fit before the work that must follow the last of them

With everything allowed and the best of all splits this is the lock-step bound (`bounds` derives it); with the rules of
one mode it narrows the planner's list of splits. Invariant: no schedule that keeps to the rules ends a batch sooner, or
two of them on average if it runs ahead; `tests/scheduling/test_rules_agree.py` holds that against the scheduler. A
lane's pull is counted for each batch, as the scheduler makes it.
"""

from dataclasses import dataclass
from typing import Literal, Self

import numpy as np
import numpy.typing as npt

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.rules import waits_for_whole_batch
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.gang import ROUNDING, TOLERANCE, GangTraining, units_of_training
from worker.scheduling.planning.lane_kinds import Counts, LaneKinds, Seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class ScheduleRules:
    """What a schedule may do."""

    overlaps: bool = True
    """Train groups while others are still being generated."""
    lends: bool = True
    """Let trainer lanes generate."""
    tsp: bool = True
    """Give micro-batches of one trajectory to different ranks."""
    runs_ahead: bool = False
    """Generate the next batch while this one is trained (staleness 1)."""
    trains_without_lent: bool = True
    """Let ranks that share micro-batches by speed train while others of the gang are lent. No schedule does better than
    with it; without it the limit is nearer to a scheduler that recalls lent lanes whenever there is work for them."""
    whole_fragments_ahead: bool = False
    """With `runs_ahead`, count whole fragments for the two batches within which one must be generated and trained.
    Lanes whose fragments take turns do better, so that this bounds nothing, but it tells fragment sizes apart that take
    as much work."""

    @property
    def num_loans(self) -> float:
        """The fewest loans a batch of a lane that is lent in every batch: one that runs ahead may last for two."""
        return 0.5 if self.runs_ahead else 1.0

    @classmethod
    def of(
        cls, pipeline: PipelineSpec, advantage_std: Literal["group", "batch"], *, equal_counts: bool = False
    ) -> Self:
        """The rules that a run's switches set, with ranks in step if `equal_counts`; placement must be resolved."""
        return cls(
            overlaps=not waits_for_whole_batch(pipeline, advantage_std, equal_counts=equal_counts),
            lends=pipeline.trainers_generate,
            tsp=pipeline.tsp,
            runs_ahead=bool(pipeline.max_staleness),
        )


def batch_limits(
    algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds, trainers: Counts, rules: ScheduleRules
) -> Seconds:
    """[split]: the least seconds of one batch; infinite where no lane would generate.

    `trainers`: [split, kind], how many lanes of each kind train; at least one in each split.
    """
    splits = _Splits.of(algebra, costs, kinds, trainers, rules)
    low, high = splits.at_least, splits.enough()
    is_endless = ~np.isfinite(high)
    low, high = np.where(is_endless, 0.0, low), np.where(is_endless, 0.0, high)
    while np.any(high - low > TOLERANCE * high):
        middle = (low + high) / 2
        is_middle_too_short = splits.are_too_short(middle)
        low, high = np.where(is_middle_too_short, middle, low), np.where(is_middle_too_short, high, middle)
    return np.where(is_endless, np.inf, low)


@dataclass(frozen=True, slots=True, eq=False)
class _Splits:
    """How many fragments fit into a given time, for many splits at once; [split] or [split, kind], in seconds."""

    num_fragments: int
    kinds: LaneKinds
    rules: ScheduleRules
    trainers: Counts
    """[split, kind]: how many lanes of the kind train."""
    gang: GangTraining
    unit: Seconds
    """[kind]: training of a unit of work, which one rank takes undivided."""
    num_units: int | None
    """Units of training in a batch; `None` where all ranks take part in all of the training."""
    tail: Seconds
    """[split]: the end of the batch in which no lane generates."""
    own: Counts
    """[split, kind]: how many lanes only generate."""
    lent: Counts
    """[split, kind]: how many lanes train and may generate too."""
    there: Seconds
    """[split, kind]: what a lane's loans of one batch take before it generates: switches, its part of those that the
    gang shares, and the pull."""
    back: Seconds
    """[split, kind]: what they take afterwards."""
    at_least: Seconds
    """[split]: a lower bound from scoring, from training after the first group is complete, and at staleness 1 from the
    two batches within which a group is generated and trained."""

    @classmethod
    def of(
        cls, algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds, trainers: Counts, rules: ScheduleRules
    ) -> Self:
        gang = GangTraining.of(
            algebra,
            kinds,
            trainers,
            tsp=rules.tsp,
            waits_for_publish=not rules.runs_ahead,
            equal_counts=costs.equal_counts,
        )
        unit, num_units_per_group = units_of_training(algebra, kinds, tsp=rules.tsp)
        is_together = costs.equal_counts or not rules.trains_without_lent
        num_units = None if is_together else num_units_per_group * algebra.num_groups * algebra.num_epochs
        score = costs.score.seconds(algebra.fragment_size)
        scoring = score * algebra.num_fragments / costs.num_reward
        shared_switch = kinds.shared_switch / trainers.sum(axis=1, keepdims=True)
        # All trainer lanes are lent or none, so all must have memory for it.
        may_lend = rules.lends & kinds.fit(trainers, lends=True)
        lent = np.where(may_lend[:, None], trainers, 0)
        if rules.runs_ahead:
            tail = np.zeros_like(gang.training)
            # A fragment is generated with the version before the last at the earliest, and trained for the next.
            two_batches = _group_ahead(algebra, kinds, kinds.number - trainers, lent) + score + gang.after_last_group
            at_least = np.maximum(gang.training, two_batches / 2)
        else:
            tail = score + (gang.after_last_group if rules.overlaps else gang.training)
            reclaim = kinds.reclaim + shared_switch if is_together else np.zeros_like(shared_switch)
            fill = _fill(algebra, kinds, kinds.number - trainers, lent, score, shared_switch, reclaim)
            at_least = fill + gang.training
        return cls(
            algebra.num_fragments,
            kinds,
            rules,
            trainers,
            gang,
            unit,
            num_units,
            tail,
            kinds.number - trainers,
            lent,
            there=rules.num_loans * (kinds.lend + shared_switch) + kinds.pull,
            back=rules.num_loans * (kinds.reclaim + shared_switch),
            at_least=np.maximum(at_least, scoring),
        )

    def enough(self) -> Seconds:
        """[split]: seconds in which a batch surely ends, as the lanes that generate share its fragments equally;
        infinite where no lane generates."""
        kinds = self.kinds
        num_own, num_lent = self.own.sum(axis=1), self.lent.sum(axis=1)
        generators = np.where(num_own[:, None] > 0, self.own, self.lent) > 0
        with np.errstate(divide="ignore"):
            num_each = np.ceil(self.num_fragments / np.where(num_own > 0, num_own, num_lent))
        each = np.where(generators, kinds.pull + (num_each[:, None] + 1) * kinds.fragment, 0.0).max(axis=1)
        # A loan of two batches takes up to twice its part of one.
        switches = np.where(generators, 2 * (self.there + self.back), 0.0).max(axis=1)
        lent_only = np.where(num_own > 0, 0.0, self.gang.training + switches)
        return np.where(num_own + num_lent > 0, np.maximum(self.at_least, each + self.tail + lent_only), np.inf)

    def are_too_short(self, seconds: Seconds) -> npt.NDArray[np.bool_]:
        """[split]: whether fewer fragments fit into `seconds` than a batch has."""
        kinds = self.kinds
        until = (seconds - self.tail)[:, None]
        own = (until - kinds.pull) / kinds.fragment
        # In step a lane that is lent misses no training; by speed, others may train for it.
        together = self.gang.training if self.num_units is None else self.gang.together
        apart = (seconds - together)[:, None]
        lent = (np.minimum(until, apart - self.back) - self.there) / kinds.fragment
        if not self.rules.runs_ahead:
            own, lent = np.floor(own + ROUNDING), np.floor(lent + ROUNDING)
        elif self.rules.whole_fragments_ahead:
            own, lent = np.floor(2 * own + ROUNDING) / 2, np.floor(2 * lent + ROUNDING) / 2
        num_own = (self.own * np.maximum(own, 0.0)).sum(axis=1)
        lent = np.maximum(lent, 0.0)
        most = self.lent * lent
        if self.num_units is None or not most.any():
            # With no lane lent, training ends in time wherever `at_least` is kept.
            return np.asarray(num_own + most.sum(axis=1) < self.num_fragments)
        num_spare, num_lent = self._traded(np.maximum(apart, 0.0), lent, most)
        return np.asarray((num_spare < -ROUNDING * self.num_units) | (num_own + num_lent < self.num_fragments))

    def _traded(self, apart: Seconds, lent: Seconds, most: Seconds) -> tuple[Seconds, Seconds]:
        """[split]: units of training that ranks could do beyond a batch's if none were lent, and the most fragments
        that lanes generate in return for these, where those that lose the fewest units for a fragment do.

        Args:
            apart: [split, 1], seconds in which ranks need not wait for each other.
            lent: [split, kind], the most fragments that a lent lane could generate.
            most: [split, kind], the most that all lanes of the kind could.
        """
        alone = apart / self.unit
        besides = np.maximum(apart - self.there - self.back - lent * self.kinds.fragment, 0.0) / self.unit
        spare = (self.trainers * alone).sum(axis=1) - (self.num_units or 0)
        # Between no fragment and the most, units are lost in proportion: fewer than by any whole number of fragments.
        units = np.where(most > 0, self.lent * (alone - besides), 0.0)
        if units.shape[1] > 1:
            lost = np.divide(units, most, out=np.full_like(most, np.inf), where=most > 0)
            order = np.argsort(lost, axis=1, kind="stable")
            units, most = np.take_along_axis(units, order, axis=1), np.take_along_axis(most, order, axis=1)
        left = np.maximum(spare, 0.0)[:, None] - np.cumsum(units, axis=1) + units
        share = np.divide(left, units, out=np.ones_like(most), where=units > 0)
        return spare, (most * np.clip(share, 0.0, 1.0) * (left >= 0)).sum(axis=1)


def _fill(
    algebra: BatchAlgebra,
    kinds: LaneKinds,
    rollout: Counts,
    lent: Counts,
    score: float,
    shared_switch: Seconds,
    reclaim: Seconds,
) -> Seconds:
    """[split]: when the first group can be complete at staleness 0. Of a group's fragments some lane must generate at
    least the ceiling of its share.

    Args:
        rollout: [split, kind], rollout lanes.
        lent: [split, kind], trainer lanes that may generate.
        score: seconds in which a fragment is scored.
        shared_switch: [split, kind].
        reclaim: [split, kind], the switch back that must end before the gang trains; 0 where others begin without.
    """
    num_each = _num_each_of_group(algebra, rollout + lent)
    first = np.full(len(rollout), np.inf)
    of_kinds = zip(rollout.T, lent.T, shared_switch.T, reclaim.T, strict=True)
    for kind, (num_rollout, num_lent, shared, back) in enumerate(of_kinds):
        generated = kinds.pull[kind] + num_each * kinds.fragment[kind]
        returned = kinds.lend[kind] + shared + generated + np.maximum(score, back)
        first = np.minimum(first, np.where(num_rollout > 0, generated + score, np.inf))
        first = np.minimum(first, np.where(num_lent > 0, returned, np.inf))
    return first


def _group_ahead(algebra: BatchAlgebra, kinds: LaneKinds, rollout: Counts, lent: Counts) -> Seconds:
    """[split]: the least seconds in which any group is generated, where lent lanes need not switch for it. `rollout`
    and `lent` are as above."""
    seconds = kinds.pull + _num_each_of_group(algebra, rollout + lent)[:, None] * kinds.fragment
    least: Seconds = np.where(rollout + lent > 0, seconds, np.inf).min(axis=1)
    return least


def _num_each_of_group(algebra: BatchAlgebra, generators: Counts) -> Seconds:
    """[split]: the fragments of a group that the lane with the most of them generates at least. `generators`: [split,
    kind]."""
    num_generators = np.maximum(generators.sum(axis=1), 1)
    return np.ceil(algebra.group_size // algebra.fragment_size / num_generators)
