"""The simulator: the scheduler of a real run, on a virtual clock, with lanes that only take time.

    scheduler ── next_actions ──► agenda: (when it will be done, its answer) ── the clock jumps to the next ──► apply

Costs come from a profile of each lane. The spans are those that a real run writes, so a plan is drawn and graded like
one. Invariant: nothing but the profiles and the scheduler's own choices decides the outcome; the same input gives the
same spans.
"""

import heapq
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Role
from worker.contracts.spans import Span, SpanKind
from worker.pipeline.scheduler import Scheduler
from worker.pipeline.spans import SpanRecorder, Work
from worker.pipeline.types import (
    Accumulate,
    Accumulated,
    Action,
    Commit,
    Committed,
    EvaluationComplete,
    Event,
    Fragment,
    Generate,
    Generated,
    LaneJoined,
    Publish,
    Published,
    Pull,
    Pulled,
    Score,
    Scored,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneProfile:
    """What work costs on one lane, in seconds.

    A sample is one trajectory: generated, scored, or trained over all its trainable denoising steps.
    """

    lane: str
    role: Role
    seconds_per_sample: float
    seconds_per_call: float = 0.0
    """Paid once for every action, whatever its size."""
    start_up_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ExchangeProfile:
    """What the lanes do together, in seconds."""

    commit_seconds: float = 0.0
    publish_seconds: float = 0.0
    pull_seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class _Appointment:
    """What will have happened; `lanes` do `kind` until then."""

    event: Event
    lanes: tuple[str, ...]


class Simulator:
    """Plays one run to its end; use once."""

    def __init__(
        self,
        scheduler: Scheduler,
        algebra: BatchAlgebra,
        lanes: Iterable[LaneProfile],
        exchange: ExchangeProfile,
        emit: Callable[[Span], None],
    ) -> None:
        """Raises `ValueError` where a role has no lane: the run would never end."""
        self._scheduler = scheduler
        self._algebra = algebra
        self._lanes = {profile.lane: profile for profile in lanes}
        self._exchange = exchange
        self._recorder = SpanRecorder(emit, scheduler.idle_cause)
        self._agenda: list[tuple[float, int, _Appointment]] = []
        self._num_appointments = 0
        self._trainers = tuple(lane for lane, profile in self._lanes.items() if profile.role is Role.TRAINER)
        for role in Role:
            if all(profile.role is not role for profile in self._lanes.values()):
                raise ValueError(f"`lanes` must hold at least one {role} lane, got none: the run would wait forever")

    def run(self) -> float:
        """The virtual seconds from the start of the lanes to the end of the run."""
        now = 0.0
        for profile in self._lanes.values():
            self._recorder.lane_started(profile.lane, now)
            joined = LaneJoined(profile.lane, profile.role, None)
            self._appoint(self._joins_at(profile), _Appointment(joined, ()))
        while not self._scheduler.is_finished:
            now = self._advance()
        self._recorder.stop_all(now)
        return now

    def _advance(self) -> float:
        """Jump to the next moment at which anything happens, and let the scheduler react to all of it."""
        now = self._agenda[0][0]
        while self._agenda and self._agenda[0][0] == now:
            appointment = heapq.heappop(self._agenda)[2]
            for lane in appointment.lanes:
                self._recorder.ended(lane, now)
            self._scheduler.apply(appointment.event)
        for action in self._scheduler.next_actions():
            self._begin(action, now)
        self._recorder.settle(now)
        return now

    def _joins_at(self, profile: LaneProfile) -> float:
        """Trainer lanes form one process group, so each waits until the last of them is up."""
        if profile.role is not Role.TRAINER:
            return profile.start_up_seconds
        return max(self._lanes[lane].start_up_seconds for lane in self._trainers)

    def _appoint(self, at: float, appointment: _Appointment) -> None:
        self._num_appointments += 1
        heapq.heappush(self._agenda, (at, self._num_appointments, appointment))

    def _begin(self, action: Action, now: float) -> None:
        match action:
            case Pull(lane, version):
                seconds = self._exchange.pull_seconds
                self._occupy((lane,), SpanKind.PULL, Work(policy_version=version), now, seconds, Pulled(lane, version))
            case Generate(lane, fragment):
                self._work_on(lane, SpanKind.GENERATE, fragment, now, Generated(lane, fragment.key))
            case Score(lane, fragment):
                # Rewards do not matter to time: a constant stands for all.
                rewards = (0.0,) * len(fragment.members)
                self._work_on(lane, SpanKind.SCORE, fragment, now, Scored(lane, fragment.key, rewards))
            case Accumulate() | Commit() | Publish():
                self._begin_gang(action, now)
            case EvaluationComplete():
                pass

    def _begin_gang(self, action: Accumulate | Commit | Publish, now: float) -> None:
        match action:
            case Accumulate(batch, minibatch, epoch, groups):
                num_samples = len(groups) * self._algebra.group_size
                event: Event = Accumulated(batch, minibatch, epoch, groups)
                work = Work(batch=batch, num_samples=num_samples)
                self._occupy(self._trainers, SpanKind.TRAIN, work, now, self._lockstep_seconds(num_samples), event)
            case Commit(batch, minibatch, epoch):
                seconds, event = self._exchange.commit_seconds, Committed(batch, minibatch, epoch)
                self._occupy(self._trainers, SpanKind.TRAIN, Work(batch=batch), now, seconds, event)
            case Publish(batch, version):
                work = Work(batch=batch, policy_version=version)
                seconds = self._exchange.publish_seconds
                self._occupy(self._trainers, SpanKind.PUBLISH, work, now, seconds, Published(version))

    def _work_on(self, lane: str, kind: SpanKind, fragment: Fragment, now: float, event: Event) -> None:
        profile, key = self._lanes[lane], fragment.key
        num_samples = len(fragment.members)
        num_fragments_per_group = self._algebra.num_fragments // self._algebra.num_groups
        work = Work(
            batch=key.batch,
            group=key.group,
            fragment=key.group * num_fragments_per_group + key.index,
            policy_version=fragment.policy_version,
            num_samples=num_samples,
        )
        seconds = profile.seconds_per_call + num_samples * profile.seconds_per_sample
        self._occupy((lane,), kind, work, now, seconds, event)

    def _lockstep_seconds(self, num_samples: int) -> float:
        """Ranks share the samples evenly and wait for the slowest of them."""
        share = num_samples / len(self._trainers)
        profiles = [self._lanes[lane] for lane in self._trainers]
        return max(profile.seconds_per_call + share * profile.seconds_per_sample for profile in profiles)

    def _occupy(
        self, lanes: tuple[str, ...], kind: SpanKind, work: Work, now: float, seconds: float, event: Event
    ) -> None:
        for lane in lanes:
            self._recorder.began(lane, kind, now, work)
        self._appoint(now + seconds, _Appointment(event, lanes))
