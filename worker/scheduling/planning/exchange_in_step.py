"""The best gang of every size where ranks train in step (ZeRO 2 and 3), by an exchange argument.

    slowest kinds allowed in the gang, number of ranks ──► how long the gang trains
                                                           │ in the time that is left
                                                           ▼
    a lane of each kind generates so many fragments as a rollout lane, so many if it trains ──► what its training loses

Ranks train in step, so how long a gang of R ranks trains depends on R and on its slowest kind alone: the one that takes
longest for a micro-batch, and the one that takes longest to commit. Of the lanes that are no slower than these, those
should train that generate the least for it: if one trained that loses more than another that does not, exchanging the
two would keep the gang's time and gain generation. So for each slowest kind, each R and each T the best gang is the R
lanes that lose least, and at most one kind is divided. That is one sort for each option, no enumeration of splits: N
lanes of K kinds have K · N options where faster kinds commit faster too, and never more than K² · N.

When the first group is complete and how long a publish takes are bounded from below. Invariant: the least seconds of
the options are never above the limit of any split.
"""

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.exchange import GangOptions, earliest_first_group
from worker.scheduling.planning.gang import ROUNDING, GangTraining
from worker.scheduling.planning.lane_kinds import Counts, LaneKinds, Seconds
from worker.scheduling.planning.limits import ScheduleRules


@dataclass(frozen=True, slots=True, eq=False)
class RanksInStep(GangOptions):
    """One option for each pair of slowest kinds and each number of ranks; [option] or [option, kind], in seconds."""

    num_fragments: int
    kinds: LaneKinds
    rules: ScheduleRules
    num_ranks: Counts
    """[option]"""
    available: Counts
    """[option, kind]: how many lanes of the kind may be in the gang."""
    training: Seconds
    """[option]: training of a whole batch."""
    tail: Seconds
    """[option]: the end of the batch in which no lane generates."""

    @classmethod
    def of(
        cls, algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds, rules: ScheduleRules, numbers: Counts
    ) -> Self:
        """Options with as many ranks as in `numbers`, each ≥ 1, as far as lanes and their memory allow."""
        pairs, allowed = _slowest_pairs(kinds)
        option, num_ranks = (grid.ravel() for grid in np.meshgrid(np.arange(len(pairs)), numbers))
        available = np.where(allowed[option] & (num_ranks[:, None] >= kinds.ranks_to_train), kinds.number, 0)
        # The gang's time is that of one with lanes of these two kinds only, since no other in it is slower.
        only_slowest = np.zeros_like(available)
        np.add.at(only_slowest, (np.arange(option.size), pairs[option, 0]), num_ranks - 1)
        np.add.at(only_slowest, (np.arange(option.size), pairs[option, 1]), 1)
        is_possible = (available.sum(axis=1) >= num_ranks) & (np.minimum(available, 1) >= only_slowest.clip(0, 1)).all(
            1
        )
        is_possible &= (num_ranks > 1) | (pairs[option, 0] == pairs[option, 1])
        num_ranks, available, only_slowest = (array[is_possible] for array in (num_ranks, available, only_slowest))
        gang = GangTraining.of(
            algebra, kinds, only_slowest, tsp=rules.tsp, waits_for_publish=not rules.runs_ahead, equal_counts=True
        )
        score = costs.score.seconds(algebra.fragment_size)
        scoring = score * algebra.num_fragments / costs.num_reward
        if rules.runs_ahead:
            tail = fill = np.zeros_like(gang.training)
        else:
            tail = score + (gang.after_last_group if rules.overlaps else gang.training)
            fill = earliest_first_group(algebra, kinds, num_ranks, score, must_return=True)
        at_least = np.maximum(fill + gang.training, scoring)
        return cls(at_least, algebra.num_fragments, kinds, rules, num_ranks, available, gang.training, tail)

    def are_in_time(self, seconds: float) -> npt.NDArray[np.bool_]:
        """[option]: whether a batch may end within `seconds`."""
        own, lent = self._fragments(seconds)
        taken = self._cheapest(own - lent)
        generated = ((self.kinds.number - taken) * own + taken * lent).sum(axis=1)
        return np.asarray((self.at_least <= seconds) & (generated >= self.num_fragments))

    def gangs(self, seconds: float) -> Counts:
        """[option, kind]: how many lanes of each kind train, where a batch takes `seconds`."""
        own, lent = self._fragments(seconds)
        return self._cheapest(own - lent)

    def only(self, selected: npt.NDArray[np.bool_]) -> "RanksInStep":
        """The selected options; `selected`: [option]."""
        return replace(
            self,
            num_ranks=self.num_ranks[selected],
            available=self.available[selected],
            training=self.training[selected],
            tail=self.tail[selected],
            at_least=self.at_least[selected],
        )

    def _fragments(self, seconds: float) -> tuple[Seconds, Seconds]:
        """[option, kind]: the fragments that a lane completes within `seconds`, if it only generates and if it trains
        too."""
        kinds, ranks = self.kinds, self.num_ranks[:, None]
        shared_switch = kinds.shared_switch / ranks
        until = (seconds - self.tail)[:, None]
        own = (until - kinds.pull) / kinds.fragment
        there, back = (self.rules.num_loans * (switch + shared_switch) for switch in (kinds.lend, kinds.reclaim))
        not_training = (seconds - self.training)[:, None] - back
        lent = (np.minimum(until, not_training) - there - kinds.pull) / kinds.fragment
        if not self.rules.runs_ahead:
            own, lent = np.floor(own + ROUNDING), np.floor(lent + ROUNDING)
        may_lend = self.rules.lends & (ranks >= kinds.ranks_to_do_both)
        return np.where(kinds.can_generate, np.maximum(own, 0.0), 0.0), np.where(may_lend, np.maximum(lent, 0.0), 0.0)

    def _cheapest(self, loss: Seconds) -> Counts:
        """[option, kind]: the `num_ranks` lanes that lose the fewest fragments by training. A lane that can only train
        trains first, and of lanes that lose equally many the slower generators do.

        `loss`: [option, kind], fragments.
        """
        slow_first = np.lexsort((-self.kinds.fragment, self.kinds.can_generate))
        order = slow_first[np.argsort(loss[:, slow_first], axis=1, kind="stable")]
        available = np.take_along_axis(self.available, order, axis=1)
        before = np.cumsum(available, axis=1) - available
        taken = np.zeros_like(self.available)
        np.put_along_axis(taken, order, np.clip(self.num_ranks[:, None] - before, 0, available), axis=1)
        return taken


def _slowest_pairs(kinds: LaneKinds) -> tuple[Counts, npt.NDArray[np.bool_]]:
    """([pair, 2], [pair, kind]): kinds that may train and commit slowest in one gang, and the kinds no slower than
    these. Where kinds are in one order of speed, there is a pair of each kind with itself; otherwise up to one of any
    two."""
    number = np.arange(kinds.number.size)
    by_training, by_commit = np.empty_like(number), np.empty_like(number)
    by_training[np.lexsort((kinds.commit + kinds.shared_commit, kinds.micro_batch))] = number
    by_commit[np.lexsort((kinds.micro_batch, kinds.commit + kinds.shared_commit))] = number
    first, second = (grid.ravel() for grid in np.meshgrid(number, number))
    allowed = (by_training <= by_training[first][:, None]) & (by_commit <= by_commit[second][:, None])
    is_pair = allowed[np.arange(first.size), first] & allowed[np.arange(first.size), second]
    return np.stack([first, second], axis=1)[is_pair], allowed[is_pair]
