"""When a run asks how it should go on: after its first batch, ever more rarely, and whenever it is not as it was.

Three things are a reason to ask before the next batch that is due: other lanes than those last asked about, a lane
whose costs differ from what they were then, and batches that take longer than was predicted. Where batches are short,
questions wait until those before have cost little of the time; other lanes are asked about at once, and a lane whose
costs differ once the batches since have lost more against what was predicted than a question costs. Where a lane's last
call is the first far from those before, a question waits for one batch: half of the truth is worse than none.

Invariant: each change of the trainer gang or of the fragment size doubles the distance to the next question, so a run
of n batches makes at most about log2 n of them.
"""

from collections.abc import Mapping

from worker.scheduling.core.costs import CostKind, MeasuredCostTable
from worker.scheduling.replanning.lane_ratios import are_alike

LATE = 1.1
"""Measured ÷ predicted seconds of a batch from which on a run asks anew. Promises hold within 3 %, and single batches
vary by several per cent."""
WORK_SHARE = 0.02
"""Share of one core that questions may take. A question costs half a second to five seconds of a core, of which the
process's imports are most in small pools: batches of a minute never wait for this, those of a second would be slowed by
more than a better plan gains."""
LOST_OVER_WORK = 5.0
"""Seconds that batches have lost against their promise ÷ seconds of a core of a question, from which on a lane whose
costs differ is asked about: waiting out the share would lose ten times as much where a lane has nearly stopped, and if
nothing can be done, a fifth of what is lost is the most that questions add."""
_NUM_LATE = 2
"""Batches whose mean is compared: one alone may have waited for an evaluation or a checkpoint."""
_FAR_LATE = 1.5
"""The same for a single batch. A lane that turned slow and makes one call a batch is believed after two, and the
question after the second must not wait for `_NUM_LATE` batches. A batch that waited for something else costs no more
than a question."""


class Cadence:
    """The batches after which to ask, counted from those that are complete."""

    def __init__(self) -> None:
        self._next = 1
        """The number of complete batches after which to ask in any case."""
        self.num_changes = 0
        """Changes of the trainer gang or of the fragment size so far."""
        self._not_before = 0
        """The number of complete batches before which not to ask."""
        self._asked_at = 0.0
        """Seconds of the executor's clock."""
        self._counted_from: tuple[int, float] | None = None
        """(Batches complete, seconds of the executor's clock) since when batches are compared with the promise."""
        self._promised: float | None = None
        """Predicted seconds of a batch, as the run works now."""
        self._ends: list[tuple[int, float]] = []
        """(Batches complete, seconds of the executor's clock) of the batches since the last question or change, the
        newest last."""
        self._roles: Mapping[str, object] = {}
        """Those last asked about; empty after a change, which gives lanes other roles."""
        self._costs: MeasuredCostTable = {}
        """What was measured when last asked."""
        self._num_in_doubt = 0
        """Batches in a row, up to the last one, after which a lane's last call was in doubt."""

    def restart(self, batch: int) -> None:
        """The run begins, or begins again, after `batch` complete batches."""
        self._next = batch + 1
        self._forget_batches()

    def completed(self, batch: int, at: float, *, is_in_doubt: bool = False) -> None:
        """`batch` batches are complete since `at`. `is_in_doubt`: as `CostModel.is_in_doubt` then says."""
        self._num_in_doubt = self._num_in_doubt + 1 if is_in_doubt else 0
        self._ends = [*self._ends[-_NUM_LATE:], (batch, at)]
        self._counted_from = self._counted_from or (batch, at)

    def is_due(self, roles: Mapping[str, object], costs: MeasuredCostTable, cpu_seconds: float = 0.0) -> bool:
        """Whether to ask now.

        Args:
            roles: of each lane.
            costs: what the run has measured.
            cpu_seconds: what the last question took of a core.
        """
        if not self._ends or self._ends[-1][0] < self._not_before:
            return False
        if self._roles and self._roles != roles:
            return True
        if self._num_in_doubt == 1:
            # Not for longer: among many lanes, or where durations vary much, one is always in doubt.
            return False
        has_other_costs = self._has_other_costs(costs)
        if self._ends[-1][1] < self._asked_at + cpu_seconds / WORK_SHARE:
            return has_other_costs and self._lost_seconds() > LOST_OVER_WORK * cpu_seconds
        return self._ends[-1][0] >= self._next or self._is_late() or has_other_costs

    def _lost_seconds(self) -> float:
        """How much longer the batches since the last question or change took than was promised."""
        if self._promised is None or self._counted_from is None:
            return 0.0
        (batch, since), (last, until) = self._counted_from, self._ends[-1]
        return until - since - (last - batch) * self._promised

    def _is_late(self) -> bool:
        if self._promised is None or len(self._ends) < 2:
            return False
        (last, until), (before, then) = self._ends[-1], self._ends[-2]
        if (until - then) / (last - before) > _FAR_LATE * self._promised:
            return True
        first, since = self._ends[0]
        return len(self._ends) > _NUM_LATE and (until - since) / (last - first) > LATE * self._promised

    def _has_other_costs(self, costs: MeasuredCostTable) -> bool:
        """Whether a lane that generates or trains is faster or slower than when last asked."""
        kinds = (CostKind.GENERATE, CostKind.ACCUMULATE)
        known = [key for key in self._costs if key in costs and key[1] in kinds]
        return any(not are_alike(self._costs[key], costs[key]) for key in known)

    def asked(self, roles: Mapping[str, object], costs: MeasuredCostTable) -> None:
        """The run asks now."""
        self._counted_from = batch, self._asked_at = self._ends[-1]
        self._roles, self._costs = dict(roles), costs
        self._next = batch + max(1, batch)
        self._ends = self._ends[-1:]

    def stays(self, promised_seconds: float) -> None:
        """Nothing is to change; a batch is predicted to take so many seconds."""
        self._promised = promised_seconds

    def changed(self, batch: int, promised_seconds: float, *, only_switches: bool) -> None:
        """The run works by another plan, which promises so many seconds a batch, after `batch` complete batches.

        `only_switches`: the trainer gang and the fragment size are as before.
        """
        self._promised = promised_seconds
        self._forget_batches()
        if not only_switches:
            self.num_changes += 1
            self._not_before = batch + 2**self.num_changes
            self._next = max(self._next, self._not_before)
        self._roles = {}

    def _forget_batches(self) -> None:
        self._ends.clear()
        self._counted_from = None
