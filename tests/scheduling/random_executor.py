"""An executor without hardware: work finishes in random order, lanes come, go and are lost, the gang is replaced, users
pause and request samples.

It keeps its own record of the run, independent of the scheduler, and checks every action against it. A seed gives the
same schedule again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from tests.scheduling.protocol_checker import GANG, PUBLISHER, ProtocolChecker
from tests.scheduling.run_settings import Settings, reward_of
from worker.contracts.names import LaneRole
from worker.scheduling.core.messages import (
    Accumulate,
    Accumulated,
    Action,
    AdmissionClosed,
    AdmissionOpened,
    Commit,
    Committed,
    EvaluationComplete,
    EvaluationRequested,
    Event,
    Generate,
    Generated,
    LaneJoined,
    LaneLost,
    Leave,
    LeaveRequested,
    Lend,
    LendSettled,
    Publish,
    Published,
    Pull,
    Pulled,
    Purpose,
    Score,
    Scored,
    Snapshot,
    Snapshotted,
    Switch,
    Switched,
    TrainerReleased,
    TrainerReserved,
)
from worker.scheduling.simulator.synthetic_spread import has_synthetic_spread

MAX_NUM_ITERATIONS = 20_000
"""Far more than any of the small runs needs; a run that reaches it never ends."""
SPEEDS = (1, 1, 3, 20)
"""Relative probabilities, one drawn for each worker, of being the next to finish."""
DISTURBANCES = ("lose", "leave", "join", "pause", "request", "reserve", "replace")
"""Kinds of disturbances, equally frequent; more lanes go than join, since missing ones are replaced."""


def answer(action: Action, *, share_without_spread: float = 0.0) -> Event:
    """The event that an executor answers this action with."""
    match action:
        case Pull(lane, version):
            return Pulled(lane, version)
        case Switch(lane, to):
            return Switched(lane, to)
        case Generate(lane, fragments):
            return Generated(lane, tuple(fragment.key for fragment in fragments))
        case Score(lane, fragment):
            rewards = tuple(reward_of(fragment.key, member) for member in fragment.members)
            return Scored(lane, fragment.key, rewards, has_synthetic_spread(fragment, share_without_spread))
        case Accumulate(lane, batch, minibatch, epoch, micro_batches):
            return Accumulated(lane, batch, minibatch, epoch, micro_batches)
        case Commit(batch, minibatch, epoch):
            return Committed(batch, minibatch, epoch)
        case Snapshot(_, version):
            return Snapshotted(version)
        case Publish(_, version):
            return Published(version)
        case _:
            raise AssertionError(f"{action} needs no answer")


@dataclass
class RandomExecutor:
    """Runs one scheduler to the end of its run, in random order."""

    settings: Settings
    seed: int
    observe: Callable[["RandomExecutor", list[Event], list[Action]], None] = lambda *_: None
    """Called with the executor, the events applied since the last call, and the actions that followed."""
    is_paused: bool = False
    now: float = 0.0
    events: list[tuple[Event, float]] = field(default_factory=list)
    num_events_observed: int = 0

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.scheduler = self.settings.scheduler()
        self.checker = ProtocolChecker(self.settings)
        self.num_joined = 0
        self.speeds: dict[str, int] = {worker: self.random.choice(SPEEDS) for worker in (GANG, PUBLISHER)}

    def run(self) -> "RandomExecutor":
        """Run to the end. An iteration that can do nothing is a deadlock, unless a lane or a command is missing."""
        self.begin()
        for _ in range(MAX_NUM_ITERATIONS):
            if self.scheduler.state.is_finished:
                return self
            self.iterate()
        raise AssertionError(f"not finished after {MAX_NUM_ITERATIONS} iterations")

    def begin(self) -> None:
        """Let the lanes join in random order, and sometimes start actions before all have joined."""
        joining = [
            role
            for role, num in (
                (LaneRole.TRAINER, self.settings.num_trainer),
                (LaneRole.ROLLOUT, self.settings.num_rollout),
                (LaneRole.REWARD, self.settings.num_reward),
            )
            for _ in range(num)
        ]
        self.random.shuffle(joining)
        for role in joining:
            self.join(role)
            if self.random.random() < 0.2 and GANG not in self.checker.under_way:
                self._react()
        self._react()

    def iterate(self) -> None:
        """Disturb the run, finish an action, or react to events."""
        if self.random.random() < self.settings.disturbance:
            self._disturb()
        elif self.checker.under_way:
            self.finish_one()
        elif self.num_events_observed < len(self.events):
            self._react()
        else:
            self._unblock()

    # --- events and actions -----------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        self.now += self.random.choice([0.0, 0.1, 1.0])
        self.events.append((event, self.now))
        self.scheduler.apply(event, self.now)

    def _apply_and_react(self, event: Event) -> None:
        """Apply an event; sometimes the next event arrives before the scheduler is asked for actions."""
        self.apply(event)
        if self.random.random() < 0.8:
            self._react()

    def _react(self) -> None:
        checker = self.checker
        if not self.is_paused:
            checker.last_batch_allowed = checker.num_complete + self.settings.max_staleness
        actions = self.scheduler.next_actions(self.now)
        shares = [action for action in actions if isinstance(action, Accumulate)]
        if self.settings.equal_counts and shares:
            checker.check_in_step(shares)
        for action in actions:
            if isinstance(action, EvaluationComplete):
                checker.check_evaluation(action)
            elif isinstance(action, Leave):
                checker.check_left(action)
                checker.record_lost(action.lane)
            elif not isinstance(action, Lend | LendSettled):
                checker.check(action, self.scheduler)
                checker.record_started(action)
        self.observe(self, [event for event, _ in self.events[self.num_events_observed :]], actions)
        self.num_events_observed = len(self.events)

    def finish_one(self) -> None:
        """Answer the action of one worker, more probably a fast one's."""
        workers = sorted(self.checker.under_way)
        (worker,) = self.random.choices(workers, [self.speeds[worker] for worker in workers])
        action = self.checker.under_way[worker]
        self.checker.record_finished(action)
        self._apply_and_react(answer(action, share_without_spread=self.settings.share_without_spread))

    def _unblock(self) -> None:
        """Nothing is under way: provide what is missing. Raises `AssertionError` if nothing is."""
        needed = (LaneRole.REWARD,) if self.settings.is_colocated else (LaneRole.ROLLOUT, LaneRole.REWARD)
        missing = [role for role in needed if not self.checker.lanes(role)]
        if self.checker.is_reserved:
            self.checker.is_reserved = False
            self._apply_and_react(TrainerReleased())
        elif self.is_paused and self.scheduler.state.is_quiescent:
            self.is_paused = False
            self._apply_and_react(AdmissionOpened())
        elif missing:
            self.join(missing[0])
            self._react()
        else:
            raise AssertionError(f"deadlock: nothing under way, {self.scheduler.state.queues()}")

    def join(self, role: LaneRole) -> None:
        name = f"{role}-{self.num_joined}"
        self.num_joined += 1
        self.checker.roles[name] = self.checker.serves[name] = role
        self.checker.held_version[name] = None
        self.speeds[name] = self.random.choice(SPEEDS)
        self.apply(LaneJoined(name, role, None))

    def lose(self, lane: str) -> None:
        self.checker.record_lost(lane)
        self._apply_and_react(LaneLost(lane))

    # --- disturbances -----------------------------------------------------------------------------------------------

    def _disturb(self) -> None:
        kind = self.random.choice(DISTURBANCES)
        checker = self.checker
        lanes = checker.lanes(LaneRole.ROLLOUT, LaneRole.REWARD)
        if kind == "lose" and lanes:
            self.lose(self.random.choice(lanes))
        elif kind == "leave" and (staying := [lane for lane in lanes if lane not in checker.leaving]):
            self._ask_to_leave(self.random.choice(staying))
            self._react()
        elif kind == "replace" and checker.gang_is_free and not checker.is_reserved and not checker.micro_batches_taken:
            self._replace_gang()
        elif kind == "join" and len(checker.roles) < 10:
            self._join_some()
        elif kind == "pause":
            self.is_paused = not self.is_paused
            self._apply_and_react(AdmissionClosed() if self.is_paused else AdmissionOpened())
        elif kind == "request":
            self._request()
        elif kind == "reserve" and (checker.is_reserved or checker.gang_is_free):
            checker.is_reserved = not checker.is_reserved
            self._apply_and_react(TrainerReserved() if checker.is_reserved else TrainerReleased())

    def _ask_to_leave(self, lane: str) -> None:
        self.checker.leaving.add(lane)
        self.apply(LeaveRequested(lane))

    def _replace_gang(self) -> None:
        """Every trainer lane leaves, others of any number join, while the other lanes work on."""
        self.checker.is_reserved = True
        self.apply(TrainerReserved())
        for lane in self.checker.lanes(LaneRole.TRAINER):
            self._ask_to_leave(lane)
        self._react()
        assert not self.checker.lanes(LaneRole.TRAINER), "a reserved gang has nothing to finish"
        for _ in range(self.random.randint(0, 3)):
            if self.checker.under_way:
                self.finish_one()
        for _ in range(self.random.randint(1, 3)):
            self.join(LaneRole.TRAINER)
        self.checker.is_reserved = False
        self._apply_and_react(TrainerReleased())

    def _join_some(self) -> None:
        """Let a lane join; a trainer lane only between optimizer steps, even while others of the gang are lent."""
        roles = [LaneRole.REWARD] if self.settings.is_colocated else [LaneRole.ROLLOUT, LaneRole.REWARD]
        if GANG not in self.checker.under_way and not self.checker.micro_batches_taken:
            roles.append(LaneRole.TRAINER)
        self.join(self.random.choice(roles))
        self._react()

    def _request(self) -> None:
        purpose = self.random.choice([Purpose.EVALUATE, Purpose.REQUEST])
        identity = (purpose, self.scheduler.state.batches_completed)
        if identity in self.checker.requested:
            return
        num_groups, group_size = self.random.randint(1, 3), self.random.randint(1, 5)
        request = EvaluationRequested(*identity, num_groups, group_size, self.checker.published_version)
        self.checker.requested[identity] = request
        self._apply_and_react(request)
