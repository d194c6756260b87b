"""What one batch needs of the time in which it may be worked on, whoever does which part of it.

    version published ──► pull, first group ──► last fragment ──► scored, trained, later epochs, commit ──► published
    │◄─ fill: nothing to train ─►│              │◄───────────── after_last: nothing to generate ──────────►│
    │◄──────────────────────────── window: 1 + max_staleness batches' seconds ─────────────────────────────►│

At staleness 0 nothing of a batch may begin before the version before it is published, and it ends with its own publish,
so its window is one batch long. At staleness 1 generation may begin one version earlier: two batches. Any lane may
generate, train or do both, and take any number of micro-batches. Invariant: every term is at most what each schedule
needs, so a window in which a batch does not fit here is too short for all of them.
"""

import math
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
import numpy.typing as npt

from worker.contracts.algebra import BatchAlgebra
from worker.scheduling.planning.cost_estimates import PoolCosts
from worker.scheduling.planning.gang import ROUNDING
from worker.scheduling.planning.lane_kinds import LaneKinds, Seconds

_NUM_HALVINGS = 50
"""2^-50 is 1e-15 of a time: the precision of a double."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchWindow:
    """The times of one batch on one pool, in seconds; [kind] where they differ by kind of lane."""

    algebra: BatchAlgebra
    kinds: LaneKinds
    can_train: Seconds
    """[kind]: whether a trainer lane fits in memory, with all lanes as ranks; 1 or 0."""
    can_do_both: Seconds
    """[kind]: the same of a trainer lane that generates too."""
    fill: float
    """From the window's start until a first group can be complete and scored."""
    first_fragment: float
    """From the window's start until a first fragment can be generated."""
    scoring: float
    """Scoring of whole fragments by the reward lane that gets most of them."""
    after_scores: float
    """From the last score to the window's end."""
    after_last: float
    """From the end of the last fragment's generation to the window's end."""
    training: float
    """All optimizer steps one after the other, on all lanes that can train at once, without the publish."""
    later_epochs: float
    """Those of them that come after the first epoch."""
    publish: float
    commits: Seconds
    """[kind]: all commits of a batch, by a lane that trains."""

    @classmethod
    def of(cls, algebra: BatchAlgebra, costs: PoolCosts, kinds: LaneKinds) -> Self:
        """The window's times. Some lane must have memory to generate, and some to train."""
        can_train = (kinds.ranks_to_train <= kinds.num_lanes).astype(float)
        can_do_both = (kinds.ranks_to_do_both <= kinds.num_lanes).astype(float)
        trains, generates = can_train > 0, kinds.can_generate
        commit = kinds.commit + kinds.shared_commit / kinds.num_lanes
        publish = float((kinds.publish + kinds.shared_publish / kinds.num_lanes)[trains].min())
        score = costs.score.seconds(algebra.fragment_size)
        num_each = math.ceil(algebra.group_size // algebra.fragment_size / int(kinds.number[generates].sum()))
        num_steps = algebra.num_optimizer_steps_per_batch
        num_per_step = algebra.num_micro_batches_per_optimizer_step
        step = _parallel_seconds(kinds, trains, num_per_step) + float(commit[trains].min())
        last_group = _parallel_seconds(kinds, trains, num_per_step // algebra.num_groups_per_minibatch)
        later_epochs = (algebra.num_epochs - 1) * algebra.num_minibatches * step
        after_scores = last_group + later_epochs + float(commit[trains].min()) + publish
        return cls(
            algebra=algebra,
            kinds=kinds,
            can_train=can_train,
            can_do_both=can_do_both,
            fill=float((kinds.pull + num_each * kinds.fragment)[generates].min()) + score,
            first_fragment=float((kinds.pull + kinds.fragment)[generates].min()),
            scoring=math.ceil(algebra.num_fragments / costs.num_reward) * score,
            after_scores=after_scores,
            after_last=score + after_scores,
            training=num_steps * step,
            later_epochs=later_epochs,
            publish=publish,
            commits=num_steps * commit,
        )

    @property
    def critical_path(self) -> float:
        """Seconds of the longest chain of work that must be done one after the other."""
        scored = self.first_fragment + self.scoring + self.after_scores
        return max(self.fill + self.training + self.publish, scored, self.first_fragment + self.after_last)

    def num_ranks(self, seconds: float) -> float:
        """The fewest lanes that must train in a step, on the mean of a batch whose steps follow one another within
        `seconds`.

        A step's lanes need U ÷ r seconds and a commit, with U micro-batches and r of them a second, so on the mean of
        the steps r must be what fits. The time is convex in the number of lanes, the fastest first, so steps with
        equally many lanes need the fewest.
        """
        trains = self.can_train > 0
        step = (seconds - float(self.commits[trains].min())) / self.algebra.num_optimizer_steps_per_batch
        rate = self.algebra.num_micro_batches_per_optimizer_step / max(step, _NO_TIME)
        each = 1 / np.maximum(self.kinds.micro_batch[trains], _NO_TIME)
        fastest = np.argsort(-each)
        lanes = np.cumsum(np.append(0, self.kinds.number[trains][fastest]))
        rates = np.cumsum(np.append(0.0, (self.kinds.number[trains] * each)[fastest]))
        return float(np.interp(rate, rates, lanes))

    def kinds_that_pull(self, seconds: float, num_batches: int) -> LaneKinds:
        """The kinds with fragments that take their part of a pull too. A lane pulls at least once for every
        `num_batches` batches that it generates for, since a version serves no more, and for each of them it completes
        no more fragments than fit into the window of `seconds`."""
        fits = np.floor((seconds - self.after_last - self.kinds.pull) / self.kinds.fragment + ROUNDING)
        most = np.clip(fits, 1, self._num_fragments)
        return replace(
            self.kinds,
            fragment=self.kinds.fragment + self.kinds.pull / (num_batches * most),
            can_generate=self.kinds.can_generate & (fits >= 1),
        )

    def holds_batch(self, seconds: float, generation_share: float, *, switches: bool) -> bool:
        """Whether all whole fragments and micro-batches of a batch may fit into a window of `seconds`.

        Lanes choose among whole numbers of either; that is relaxed by prices: at every price of a fragment against a
        micro-batch, the most that the lanes can earn must be worth a batch.

        Args:
            generation_share: the price at which the linear program of all work is solved, one of those tried.
            switches: count the switches of lanes that do both. At staleness 1 they may lie outside the window.
        """
        prices = np.append(_PRICES, generation_share)
        earned = np.zeros_like(prices)
        for kind, number in enumerate(self.kinds.number):
            generated, trained = self._choices(seconds, kind, switches=switches)
            worth = np.outer(prices, generated / self._num_fragments) + np.outer(1 - prices, trained / self._num_units)
            earned += number * worth.max(axis=1)
        return bool((earned >= 1 - ROUNDING).all())

    def _choices(self, seconds: float, kind: int, *, switches: bool) -> tuple[Seconds, Seconds]:
        """[choice]: the fragments and the micro-batches that one lane of this kind may complete."""
        kinds, pull, fragment = self.kinds, self.kinds.pull[kind], self.kinds.fragment[kind]
        until = seconds - self.after_last - pull
        most_trained = self._units((seconds - self.fill - self.commits[kind] - self.publish), kind)
        generated, trained = [np.zeros(1)], [np.atleast_1d(most_trained * self.can_train[kind])]
        if kinds.can_generate[kind]:
            generated.append(np.atleast_1d(self._fragments(until, kind)))
            trained.append(np.zeros(1))
        if self.can_do_both[kind]:
            shared = kinds.shared_switch[kind] / kinds.num_lanes
            lend, reclaim = (kinds.lend[kind] + shared, kinds.reclaim[kind] + shared) if switches else (0.0, 0.0)
            numbers = np.arange(1, self._fragments(until - lend, kind) + 1)
            left = seconds - self.publish - self.commits[kind] - lend - reclaim - pull - numbers * fragment
            generated.append(numbers)
            trained.append(np.minimum(self._units(left, kind), most_trained))
        return np.concatenate(generated), np.concatenate(trained)

    def _fragments(self, seconds: float, kind: int) -> float:
        """Whole fragments within `seconds`, at most a batch's."""
        return float(np.clip(np.floor(seconds / self.kinds.fragment[kind] + ROUNDING), 0, self._num_fragments))

    def _units(self, seconds: Seconds | float, kind: int) -> Seconds:
        """Whole micro-batches within `seconds`, at most a batch's."""
        each = max(float(self.kinds.micro_batch[kind]), _NO_TIME)
        return np.asarray(np.clip(np.floor(np.asarray(seconds) / each + ROUNDING), 0, self._num_units))

    @property
    def _num_fragments(self) -> int:
        return self.algebra.num_fragments

    @property
    def _num_units(self) -> int:
        return self.algebra.num_micro_batches_per_optimizer_step * self.algebra.num_optimizer_steps_per_batch


_NO_TIME = 1e-12
"""Seconds that stand in for a micro-batch that costs nothing."""
_PRICES = np.linspace(0.0, 1.0, 21)
"""Shares of a batch's worth that are its fragments. Any set of prices gives a lower bound; the linear program's own is
added, and with 81 the bound of no testbed rises by 0.1 %."""


def _parallel_seconds(kinds: LaneKinds, trains: npt.NDArray[np.bool_], num_micro_batches: int) -> float:
    """The least seconds in which lanes of the kinds that train complete so many whole micro-batches together."""
    number, each = kinds.number[trains], np.maximum(kinds.micro_batch[trains], _NO_TIME)
    low = num_micro_batches / float((number / each).sum())
    high = low + float(each.max())
    for _ in range(_NUM_HALVINGS):
        middle = (low + high) / 2
        if float((number * np.floor(middle / each + ROUNDING)).sum()) < num_micro_batches:
            low = middle
        else:
            high = middle
    return low
