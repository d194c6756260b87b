"""The best gang for every time that a mini-batch may take, where ranks share it by speed, by an exchange argument.

    seconds of a mini-batch ──► units that a rank of each kind ends in it ──► what a unit costs in fragments
                                                                              │ the cheapest until all are trained
                                                                              ▼
                                                     the gang, and the fragments that the other lanes generate

A mini-batch takes as long as the ranks together need for its units, each rank whole ones (`gang.seconds_of_units`):
some rank ends its last unit then. So it is one of the multiples of the kinds' seconds of a unit, and a gang that needs
this long holds ranks enough to end all units in it. Of two lanes, the one that loses fewer fragments for a unit should
train: exchanging them would keep the time and gain generation. So for each time the best gang takes lanes by that
ratio, one sort. A lane that is also lent loses fewer: in the batch's last seconds, when nothing is generated, training
costs it nothing, and before them only the time that a unit takes.

Bounded from below instead of counted: fractions of a lane and of a fragment, the commit and publish of the fastest
kinds by all ranks of the pool, the group that comes last. Multiples that are too many are thinned out; then an option
trains as fast as the earlier one of two, with ranks enough for the later one. Invariant: the least seconds of the
options are never above the limit of any split.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.exchange import GangOptions, earliest_first_group
from worker.scheduling.planning.gang import ROUNDING, GangTraining, seconds_of_units, units_of_training
from worker.scheduling.planning.lane_kinds import Counts, LaneKinds, Seconds
from worker.scheduling.planning.limits import ScheduleRules

_MAX_TIMES = 256
"""Times of a mini-batch that are told apart. In a pool of 4,096 lanes of four kinds neighbours differ by 4 %."""


@dataclass(frozen=True, slots=True, eq=False)
class RanksBySpeed(GangOptions):
    """One option for each time of a mini-batch; [option] or [option, kind], in seconds."""

    num_fragments: int
    num_units: int
    """Units of training in a batch, each of which one rank takes undivided."""
    num_steps: int
    """Optimizer steps in a batch."""
    kinds: LaneKinds
    rules: ScheduleRules
    unit: Seconds
    """[kind]: training of a unit."""
    num_each: Counts
    """[option, kind]: units that a rank ends in a mini-batch; 0 where the kind is no part of such a gang."""
    together: Seconds
    """[option]: commits and publish, in which every rank takes part."""
    tail: Seconds
    """[option]: the end of the batch in which no lane generates."""

    @classmethod
    def of(cls, algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds, rules: ScheduleRules) -> Self:
        """All options that the lanes and their memory allow."""
        unit, num_units_per_group = units_of_training(algebra, kinds, tsp=rules.tsp)
        num_units = num_units_per_group * algebra.num_groups_per_minibatch
        number = np.where(kinds.ranks_to_train <= kinds.num_lanes, kinds.number, 0)
        earlier, later = _times(number, unit, num_units)
        num_each = np.where(number > 0, np.floor(later[:, None] / unit + ROUNDING), 0).astype(np.int64)
        is_possible = num_each @ number >= num_units
        earlier, num_each = earlier[is_possible], num_each[is_possible]
        # Some rank ends a unit in time; ranks that do not may still be in the gang.
        takes_part, num_ranks = num_each > 0, max(1, int(number.sum()))
        # Before `earlier` the ranks had not ended all units, so together they are no faster than this.
        rate = np.minimum(number @ (1 / unit), (num_units + num_ranks) / np.maximum(earlier, _NO_TIME))
        last_group = np.maximum(_least(takes_part, unit), num_units_per_group / rate)
        commit = _least(takes_part, kinds.commit + kinds.shared_commit / num_ranks)
        publish = _least(takes_part, kinds.publish + kinds.shared_publish / num_ranks)
        if rules.runs_ahead:
            publish = np.zeros_like(publish)
        gang = GangTraining.from_minibatch(algebra, earlier, last_group, commit, publish, equal_counts=False)
        score = costs.score.seconds(algebra.fragment_size)
        if rules.runs_ahead:
            tail = fill = np.zeros_like(earlier)
        else:
            tail = score + (gang.after_last_group if rules.overlaps else gang.training)
            fill = earliest_first_group(algebra, kinds, np.full(earlier.size, num_ranks), score, must_return=False)
        scoring = score * algebra.num_fragments / costs.num_reward
        return cls(
            np.maximum(fill + gang.training, scoring),
            algebra.num_fragments,
            num_units_per_group * algebra.num_groups * algebra.num_epochs,
            algebra.num_optimizer_steps_per_batch,
            kinds,
            rules,
            unit,
            num_each,
            gang.together,
            tail,
        )

    def are_in_time(self, seconds: float) -> npt.NDArray[np.bool_]:
        """[option]: whether a batch may end within `seconds`."""
        own, lent = self._fragments(seconds)
        # What ranks do besides generating is counted in fractions of units, so that slow ones take part too.
        can_train = self.kinds.ranks_to_train <= self.kinds.num_lanes
        number = np.broadcast_to(np.where(can_train, self.kinds.number, 0), self.num_each.shape)
        apart = np.maximum(seconds - self.together, 0.0)[:, None]
        alone = np.where(number > 0, apart / self.unit, 0.0)
        besides = np.where(lent > 0, np.maximum(apart - lent * self.kinds.fragment, 0.0) / self.unit, 0.0)
        besides = np.minimum(besides, alone)
        # What a lane loses is a chain of two lines; where the second is not the steeper one, it is a single line.
        first = _ratio(own - lent, besides)
        second = _ratio(lent, alone - besides)
        is_bent = (besides > 0) & (first <= second)
        ratios = np.concatenate([np.where(is_bent, first, _ratio(own, alone)), np.where(is_bent, second, 0.0)], axis=1)
        units = np.concatenate([np.where(is_bent, besides, alone), np.where(is_bent, alone - besides, 0.0)], axis=1)
        units = units * np.concatenate([number, number], axis=1)
        lost, num_trained = _cheapest_loss(ratios, units, float(self.num_units))
        generated = own @ self.kinds.number - lost
        if not self.rules.lends:
            of_gang, _ = _cheapest_loss(
                _ratio(own, self.num_each), number * self.num_each, self.num_units / self.num_steps
            )
            generated = np.minimum(generated, own @ self.kinds.number - of_gang)
        is_trained = num_trained >= self.num_units * (1 - ROUNDING)
        is_generated = generated >= self.num_fragments * (1 - ROUNDING)
        return np.asarray((self.at_least <= seconds) & is_trained & is_generated)

    def gangs(self, seconds: float) -> Counts:
        """[gang, kind]: how many lanes of each kind train, where a batch takes `seconds`: whole lanes, enough to end
        a mini-batch in the option's time. Which kinds commit and publish fast is no part of the options, so there is a
        gang of the faster ones alone for each such time."""
        own, _ = self._fragments(seconds)
        together = self.kinds.commit * self.num_steps + self.kinds.publish
        gangs = [self._gangs_of(together <= slowest, own) for slowest in np.unique(together)]
        return np.unique(np.concatenate(gangs), axis=0)

    def _gangs_of(self, allowed: npt.NDArray[np.bool_], own: Seconds) -> Counts:
        """[option, kind]: the gangs of the `allowed` kinds. `own`: [option, kind], fragments that a lane completes if
        it only generates."""
        num_each = np.where(allowed, self.num_each, 0)
        loss = _ratio(own, num_each)
        order = np.lexsort((np.broadcast_to(-self.kinds.fragment, loss.shape), loss), axis=1)
        each = np.take_along_axis(num_each, order, axis=1)
        number = np.where(each > 0, self.kinds.number[order], 0)
        before = np.cumsum(number * each, axis=1) - number * each
        needed = np.maximum(self.num_units // self.num_steps - before, 0)
        taken = np.zeros_like(number)
        np.put_along_axis(taken, order, np.minimum(number, -(-needed // np.maximum(each, 1))), axis=1)
        return taken

    def only(self, selected: npt.NDArray[np.bool_]) -> "RanksBySpeed":
        """The selected options; `selected`: [option]."""
        return replace(
            self,
            at_least=self.at_least[selected],
            num_each=self.num_each[selected],
            together=self.together[selected],
            tail=self.tail[selected],
        )

    def _fragments(self, seconds: float) -> tuple[Seconds, Seconds]:
        """[option, kind]: the most fragments that a lane completes within `seconds` if it only generates, and if it is
        lent."""
        kinds = self.kinds
        own = ((seconds - self.tail)[:, None] - kinds.pull) / kinds.fragment
        shared_switch = kinds.shared_switch / kinds.num_lanes
        there, back = (self.rules.num_loans * (switch + shared_switch) for switch in (kinds.lend, kinds.reclaim))
        apart = (seconds - self.together)[:, None] - back
        lent = np.minimum((seconds - self.tail)[:, None], apart) - there - kinds.pull
        lent = lent / kinds.fragment
        if not self.rules.runs_ahead:
            own, lent = np.floor(own + ROUNDING), np.floor(lent + ROUNDING)
        may_lend = self.rules.lends & (kinds.num_lanes >= kinds.ranks_to_do_both)
        own = np.where(kinds.can_generate, np.maximum(own, 0.0), 0.0)
        return own, np.where(may_lend, np.maximum(np.minimum(lent, own), 0.0), 0.0)


_NO_TIME = 1e-12
"""Seconds that stand in for training that takes no time."""


def _times(number: Counts, unit: Seconds, num_units: int) -> tuple[Seconds, Seconds]:
    """([option], [option]): two times each, between which a mini-batch of some gang may end; the same where there are
    few."""
    trains = np.flatnonzero(number)
    if not trains.size:
        return np.zeros(0), np.zeros(0)
    (least,) = seconds_of_units(number[None, :], unit, num_units)
    most = num_units * float(unit[trains].max())
    if trains.size * num_units <= _MAX_TIMES:
        times = np.outer(np.arange(1, num_units + 1), unit[trains]).ravel()
        times = np.unique(times[times >= least * (1 - ROUNDING)])
        return times, times
    times = np.geomspace(least * (1 - ROUNDING), most * (1 + ROUNDING), _MAX_TIMES)
    return times[:-1], times[1:]


def _least(takes_part: npt.NDArray[np.bool_], seconds: Seconds) -> Seconds:
    """[option]: the least seconds of the kinds that take part. `seconds`: [kind] or [option, kind]."""
    return np.where(takes_part, seconds, np.inf).min(axis=1, initial=np.inf)


def _ratio(lost: Seconds, units: Seconds | Counts) -> Seconds:
    """Fragments lost for each unit; infinite where no unit is trained."""
    return np.divide(lost, units, out=np.full(lost.shape, np.inf), where=units > 0)


def _cheapest_loss(ratios: Seconds, units: Seconds, num_units: float) -> tuple[Seconds, Seconds]:
    """([option] the fewest fragments lost for `num_units`, [option] all units that could be trained).

    Args:
        ratios: [option, part], fragments lost for each unit.
        units: [option, part], units that can be had at that ratio.
    """
    order = np.argsort(ratios, axis=1, kind="stable")
    ratios, units = np.take_along_axis(ratios, order, axis=1), np.take_along_axis(units, order, axis=1)
    until = np.cumsum(units, axis=1)
    taken = np.clip(num_units - (until - units), 0.0, units)
    return (np.where(taken > 0, ratios, 0.0) * taken).sum(axis=1), until[:, -1]
