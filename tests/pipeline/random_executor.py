"""An executor without hardware: work finishes in random order, lanes come and go, people pause and ask for samples.

It keeps its own books, apart from the scheduler's, and asserts at every action that the action is allowed. A seed gives
the same schedule again.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Role
from worker.pipeline.scheduler import Scheduler
from worker.pipeline.types import (
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
    FragmentKey,
    Generate,
    Generated,
    LaneJoined,
    LaneLost,
    Publish,
    Published,
    Pull,
    Pulled,
    Purpose,
    Score,
    Scored,
    TrainerReleased,
    TrainerReserved,
)

GANG = "trainer gang"
MAX_NUM_STEPS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    algebra: BatchAlgebra
    gap: bool = True
    deterministic: bool = False
    whole_batch_advantages: bool = False
    first_batch: int = 0
    num_batches: int = 2
    num_rollout: int = 2
    num_reward: int = 1
    num_trainer: int = 1
    disturbance: float = 0.0
    """Chance, at each turn, of a lane lost or joined, a pause or resume, a request, a reserved trainer."""

    def scheduler(self) -> Scheduler:
        return Scheduler(
            self.algebra,
            gap=self.gap,
            deterministic=self.deterministic,
            advantage_std="batch" if self.whole_batch_advantages else "group",
            first_batch=self.first_batch,
            num_batches=self.num_batches,
            policy_version=self.first_batch + 10,
        )


def reward_of(key: FragmentKey, member: int) -> float:
    """A reward that tells which sample it belongs to."""
    return 1000.0 * key.batch + 10.0 * key.group + member


@dataclass
class RandomExecutor:
    settings: Settings
    seed: int
    observe: Callable[["RandomExecutor", Event | None, list[Action]], None] = lambda *_: None
    """Called after each turn with the event applied and the actions that followed."""
    under_way: dict[str, Action] = field(default_factory=dict)
    held_version: dict[str, int | None] = field(default_factory=dict)
    roles: dict[str, Role] = field(default_factory=dict)
    generated: dict[FragmentKey, tuple[tuple[int, ...], int]] = field(default_factory=dict)
    """Members and policy version of each fragment that a lane handed in."""
    scored: set[FragmentKey] = field(default_factory=set)
    accumulated: list[tuple[int, int, int, int]] = field(default_factory=list)
    """(batch, epoch, mini-batch, group), in order."""
    committed: list[tuple[int, int, int]] = field(default_factory=list)
    """(batch, epoch, mini-batch), in order."""
    published: list[int] = field(default_factory=list)
    requested: dict[tuple[Purpose, int], EvaluationRequested] = field(default_factory=dict)
    num_evaluations_complete: int = 0
    is_paused: bool = False
    is_reserved: bool = False
    events: list[Event] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.random = Random(self.seed)
        self.scheduler = self.settings.scheduler()
        self.trainer_version = self.scheduler.policy_version
        self.num_joined = 0
        self.begun_batch = -1

    def run(self) -> "RandomExecutor":
        """Until the run is finished. A turn without progress is a deadlock, unless something outside is missing."""
        for role, num in (
            (Role.TRAINER, self.settings.num_trainer),
            (Role.ROLLOUT, self.settings.num_rollout),
            (Role.REWARD, self.settings.num_reward),
        ):
            for _ in range(num):
                self.join(role)
        self._turn(None)
        for _ in range(MAX_NUM_STEPS):
            if self.scheduler.is_finished:
                return self
            if self.random.random() < self.settings.disturbance:
                self._disturb()
            elif self.under_way:
                self._finish_one()
            else:
                self._mend()
        raise AssertionError(f"not finished after {MAX_NUM_STEPS} turns")

    # --- turns ------------------------------------------------------------------------------------------------------

    def apply(self, event: Event) -> None:
        self.events.append(event)
        self.scheduler.apply(event)

    def _turn(self, event: Event | None) -> None:
        if event is not None:
            self.apply(event)
        if not self.is_paused:
            self.begun_batch = self.scheduler.batches_completed
        actions = self.scheduler.next_actions()
        for action in actions:
            self._start(action)
        self.observe(self, event, actions)

    def _finish_one(self) -> None:
        worker = self.random.choice(sorted(self.under_way))
        self._turn(self._answer(self.under_way.pop(worker)))

    def _mend(self) -> None:
        """Nothing is under way: whoever is missing comes, or the run is stuck."""
        missing = [role for role in (Role.ROLLOUT, Role.REWARD) if role not in self.roles.values()]
        if self.is_reserved:
            self.is_reserved = False
            self._turn(TrainerReleased())
        elif self.is_paused and self.scheduler.is_quiescent:
            self.is_paused = False
            self._turn(AdmissionOpened())
        elif missing:
            self.join(missing[0])
            self._turn(None)
        else:
            raise AssertionError(f"deadlock: nothing under way, {self.scheduler.queues()}")

    def join(self, role: Role) -> None:
        name = f"{role}-{self.num_joined}"
        self.num_joined += 1
        self.roles[name] = role
        self.held_version[name] = None
        self.apply(LaneJoined(name, role, None))

    def _disturb(self) -> None:
        kind = self.random.choice(["lose", "lose", "join", "pause", "request", "reserve"])
        lanes = sorted(name for name, role in self.roles.items() if role is not Role.TRAINER)
        if kind == "lose" and lanes:
            lane = self.random.choice(lanes)
            del self.roles[lane]
            self.under_way.pop(lane, None)
            self._turn(LaneLost(lane))
        elif kind == "join" and len(lanes) < 8:
            self.join(self.random.choice([Role.ROLLOUT, Role.REWARD]))
            self._turn(None)
        elif kind == "pause":
            self.is_paused = not self.is_paused
            self._turn(AdmissionClosed() if self.is_paused else AdmissionOpened())
        elif kind == "request":
            self._request()
        elif kind == "reserve" and (self.is_reserved or GANG not in self.under_way):
            self.is_reserved = not self.is_reserved
            self._turn(TrainerReserved() if self.is_reserved else TrainerReleased())

    def _request(self) -> None:
        purpose = self.random.choice([Purpose.EVALUATE, Purpose.REQUEST])
        identity = (purpose, self.scheduler.batches_completed)
        if identity in self.requested:
            return
        num_groups, group_size = self.random.randint(1, 3), self.random.randint(1, 5)
        self.requested[identity] = EvaluationRequested(*identity, num_groups, group_size, self.trainer_version)
        self._turn(self.requested[identity])

    # --- what an action is allowed to be ----------------------------------------------------------------------------

    def _start(self, action: Action) -> None:
        if isinstance(action, EvaluationComplete):
            return self._check_evaluation(action)
        worker = action.lane if isinstance(action, Pull | Generate | Score) else GANG
        assert worker not in self.under_way, f"{worker} is busy with {self.under_way[worker]}, got {action}"
        match action:
            case Pull():
                assert self.roles[worker] is Role.ROLLOUT
                assert action.policy_version in self.scheduler.needed_versions
                assert action.policy_version != self.held_version[worker], "a pull that changes nothing"
            case Generate():
                self._check_generate(action)
            case Score():
                assert self.roles[worker] is Role.REWARD
                assert action.fragment.key in self.generated
                assert action.fragment.key not in self.scored
            case _:
                self._check_training(action)
        self.under_way[worker] = action

    def _check_generate(self, action: Generate) -> None:
        fragment = action.fragment
        busy = [other.fragment.key for other in self.under_way.values() if isinstance(other, Generate)]
        assert self.roles[action.lane] is Role.ROLLOUT
        assert fragment.key not in self.generated
        assert fragment.key not in busy
        assert self.held_version[action.lane] == fragment.policy_version
        if fragment.key.purpose is Purpose.TRAIN:
            assert fragment.policy_version == self.trainer_version, "staleness 0"
            assert fragment.key.batch == self.begun_batch, "a batch begins only while admission is open"
        else:
            request = self.requested[fragment.key.purpose, fragment.key.batch]
            assert fragment.policy_version == request.policy_version

    def _check_training(self, action: Action) -> None:
        algebra = self.settings.algebra
        assert not self.is_reserved
        place = self.settings.first_batch + len(self.published)
        done = len(self.committed) - len(self.published) * algebra.num_minibatches * algebra.num_epochs
        epoch, minibatch = divmod(done, algebra.num_minibatches)
        groups = [g for b, e, m, g in self.accumulated if (b, e, m) == (place, epoch, minibatch)]
        due = [g for g in range(algebra.num_groups) if algebra.minibatch_of(g) == minibatch]
        match action:
            case Accumulate():
                assert (action.batch, action.epoch, action.minibatch) == (place, epoch, minibatch)
                assert action.groups
                assert set(action.groups) <= set(due) - set(groups)
                self._check_ready(action)
                if self.settings.deterministic:
                    assert [*groups, *action.groups] == due[: len(groups) + len(action.groups)]
            case Commit():
                assert (action.batch, action.epoch, action.minibatch) == (place, epoch, minibatch)
                assert sorted(groups) == due
            case Publish():
                assert done == algebra.num_minibatches * algebra.num_epochs
                assert (action.batch, action.policy_version) == (place, self.trainer_version + 1)
            case _:
                raise AssertionError(f"not an action of the gang: {action}")

    def _check_ready(self, action: Accumulate) -> None:
        waits_for_all = self.settings.whole_batch_advantages or not self.settings.gap
        needed = range(self.settings.algebra.num_groups) if waits_for_all else action.groups
        for group in needed:
            keys = [
                key
                for key in self.scored
                if (key.purpose, key.batch, key.group) == (Purpose.TRAIN, action.batch, group)
            ]
            members = sorted(member for key in keys for member in self.generated[key][0])
            assert members == list(range(self.settings.algebra.group_size))
        for group in action.groups:
            expected = [reward_of(FragmentKey(Purpose.TRAIN, action.batch, group, 0), m) for m in members]
            assert list(self.scheduler.group_rewards(action.batch, group)) == expected

    def _check_evaluation(self, action: EvaluationComplete) -> None:
        request = self.requested[action.purpose, action.batch]
        assert action.rewards == tuple(
            tuple(reward_of(FragmentKey(action.purpose, action.batch, group, 0), m) for m in range(request.group_size))
            for group in range(request.num_groups)
        )
        self.num_evaluations_complete += 1

    # --- what an action brings about --------------------------------------------------------------------------------

    def _answer(self, action: Action) -> Event:
        match action:
            case Pull():
                self.held_version[action.lane] = action.policy_version
                return Pulled(action.lane, action.policy_version)
            case Generate():
                self.generated[action.fragment.key] = (action.fragment.members, action.fragment.policy_version)
                return Generated(action.lane, action.fragment.key)
            case Score():
                key = action.fragment.key
                self.scored.add(key)
                return Scored(action.lane, key, tuple(reward_of(key, member) for member in action.fragment.members))
            case Accumulate(batch, minibatch, epoch, groups):
                self.accumulated += [(batch, epoch, minibatch, group) for group in groups]
                return Accumulated(batch, minibatch, epoch, groups)
            case Commit(batch, minibatch, epoch):
                self.committed.append((batch, epoch, minibatch))
                return Committed(batch, minibatch, epoch)
            case Publish():
                self.published.append(action.policy_version)
                self.trainer_version = action.policy_version
                return Published(action.policy_version)
            case EvaluationComplete():
                raise AssertionError("needs no answer")
