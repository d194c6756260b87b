"""A scheduler that writes a schedule log of all it is given and all it answers."""

from collections.abc import Callable, Sequence

from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.costs import parse_costs
from worker.scheduling.core.lane_table import Lane
from worker.scheduling.core.lending import Allowance, LendingPolicy
from worker.scheduling.core.messages import Action, Event
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.core.state import SchedulerState
from worker.scheduling.forecast.lending_policies import lending_policy
from worker.scheduling.replay.schedule_log import Applied, Asked, Line, Revised, ScheduleStart


class _WatchedPolicy:
    """A lending policy that notes whether it was asked: one that searches remembers what it found, and when."""

    def __init__(self, policy: LendingPolicy) -> None:
        self._policy = policy
        self.was_asked = False

    def grant(self, state: SchedulerState, idle: Sequence[Lane], at: float) -> Allowance | None:
        self.was_asked = True
        return self._policy.grant(state, idle, at)


def _watched(policy: LendingPolicy | None) -> _WatchedPolicy | None:
    return None if policy is None else _WatchedPolicy(policy)


class RecordedScheduler(Scheduler):
    """A scheduler that hands every line of its log to `write`.

    A call of `next_actions` is left out only where it can have changed nothing: it answered nothing, neither an event
    nor other switches came in since the call before, and no lending policy was asked.
    """

    def __init__(self, start: ScheduleStart, write: Callable[[Line], None] = lambda line: None) -> None:
        """Raises `ValueError` for `placement: auto`, which the planner must have resolved."""
        self._watched = _watched(lending_policy(start.pipeline))
        super().__init__(
            start.algebra,
            start.pipeline,
            advantage_std=start.advantage_std,
            first_batch=start.first_batch,
            num_batches=start.num_batches,
            policy_version=start.policy_version,
            first_batch_version=start.first_batch_version,
            lending_policy=self._watched,
            lends_together=start.lends_together,
            equal_counts=start.equal_counts,
            prior=parse_costs(start.prior_costs),
        )
        self._write = write
        self._has_news = False
        """Whether an event or other switches came in since the last call of `next_actions`."""
        write(start)

    def revise(self, pipeline: PipelineSpec, fragment_size: int, lending_policy: LendingPolicy | None) -> None:
        self._write(Revised(pipeline, fragment_size))
        self._watched = _watched(lending_policy)
        super().revise(pipeline, fragment_size, self._watched)
        self._has_news = True

    def apply(self, event: Event, at: float) -> None:
        # Written first, so that the log of a run that failed here holds the event that it failed at.
        self._write(Applied(at, event))
        super().apply(event, at)
        self._has_news = True

    def next_actions(self, at: float) -> list[Action]:
        actions = super().next_actions(at)
        was_asked = self._watched is not None and self._watched.was_asked
        if actions or self._has_news or was_asked:
            self._write(Asked(at, tuple(actions)))
        self._has_news = False
        if self._watched is not None:
            self._watched.was_asked = False
        return actions
