"""An executor's own record of a run, independent of the scheduler, against which every action is checked.

Each `check…` raises `AssertionError` for an action that is not allowed; each `record_…` updates the record.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tests.scheduling.run_settings import Settings, reward_of
from worker.contracts.names import LaneRole, TrainerAssist
from worker.scheduling.core.batching import num_micro_batches, num_micro_batches_per_group, num_micro_batches_per_unit
from worker.scheduling.core.messages import (
    Accumulate,
    Action,
    Commit,
    EvaluationComplete,
    EvaluationRequested,
    Fragment,
    FragmentKey,
    Generate,
    Leave,
    MicroBatchKey,
    Publish,
    Pull,
    Purpose,
    Score,
    Snapshot,
    Switch,
)
from worker.scheduling.core.scheduler import Scheduler
from worker.scheduling.simulator.synthetic_spread import has_synthetic_spread

GANG = "trainer gang"
"""The worker of actions that occupy all trainer lanes."""
PUBLISHER = "publisher"
"""The worker of a publish, which occupies no lane."""


def worker_of(action: Action) -> str:
    """The worker that an action occupies: a lane, the trainer gang or the publisher."""
    if isinstance(action, Publish):
        return PUBLISHER
    return action.lane if isinstance(action, Pull | Switch | Generate | Score | Accumulate) else GANG


@dataclass
class ProtocolChecker:
    """What has happened in a run, as its executor knows it, and what may therefore happen next."""

    settings: Settings
    roles: dict[str, LaneRole] = field(default_factory=dict)
    """By lane: its own role."""
    serves: dict[str, LaneRole] = field(default_factory=dict)
    """By lane: the role that it serves now."""
    under_way: dict[str, Action] = field(default_factory=dict)
    """By worker: the action begun and not answered."""
    held_version: dict[str, int | None] = field(default_factory=dict)
    """By lane: the version pulled last."""
    generated: dict[FragmentKey, Fragment] = field(default_factory=dict)
    """All fragments that lanes have generated, those of dropped draws left out."""
    dropped: list[Fragment] = field(default_factory=list)
    """Fragments of draws without spread that were drawn again, in order."""
    skipped: set[tuple[int, int]] = field(default_factory=set)
    """(batch, group) of complete groups that are not trained on."""
    scored: set[FragmentKey] = field(default_factory=set)
    batch_versions: dict[int, int] = field(default_factory=dict)
    """By batch: the version of its fragments."""
    accumulated: list[tuple[int, int, int, MicroBatchKey]] = field(default_factory=list)
    """(batch, epoch, mini-batch, key) of each micro-batch that a rank has begun to accumulate, in order."""
    committed: list[tuple[int, int, int]] = field(default_factory=list)
    """(batch, epoch, mini-batch) of each commit, in order."""
    snapshots: list[int] = field(default_factory=list)
    """Versions of which a snapshot was taken, in order; each is published afterwards."""
    published: list[int] = field(default_factory=list)
    """Versions published, in order."""
    staleness: dict[int, int] = field(default_factory=dict)
    """By batch: the trainer's version less the batch's, when it was trained."""
    requested: dict[tuple[Purpose, int], EvaluationRequested] = field(default_factory=dict)
    num_evaluations_complete: int = 0
    num_fragments_lent: int = 0
    num_shared_calls: int = 0
    """Calls of several fragments."""
    is_reserved: bool = False
    leaving: set[str] = field(default_factory=set)
    """Lanes that were asked to leave and have not left."""
    last_batch_allowed: int = -1
    """The last batch that was allowed to begin while admission was open."""

    def __post_init__(self) -> None:
        self.trainer_version = self.settings.first_version
        self._num_members_scored: dict[tuple[int, int], int] = defaultdict(int)

    # --- how far the run is -----------------------------------------------------------------------------------------

    @property
    def head(self) -> int:
        """The batch to be trained now."""
        return self.settings.first_batch + len(self.snapshots)

    @property
    def num_complete(self) -> int:
        """The number of batches published, those of earlier attempts included."""
        return self.settings.first_batch + len(self.published)

    @property
    def published_version(self) -> int:
        return self.published[-1] if self.published else self.settings.first_version

    @property
    def training_position(self) -> tuple[int, int]:
        """(epoch, mini-batch) to be trained now."""
        algebra = self.settings.algebra
        steps = [(epoch, part) for epoch in range(algebra.num_epochs) for part in range(algebra.num_minibatches)]
        done = {(epoch, minibatch) for batch, epoch, minibatch in self.committed if batch == self.head}
        return next((step for step in steps if step not in done and self.due_of(step[1])), (algebra.num_epochs, 0))

    def due_of(self, minibatch: int) -> list[int]:
        """The head's groups of a mini-batch that are to be trained, as far as is known."""
        algebra = self.settings.algebra
        groups = [group for group in range(algebra.num_groups) if algebra.minibatch_of(group) == minibatch]
        return [group for group in groups if (self.head, group) not in self.skipped]

    @property
    def micro_batches_taken(self) -> list[MicroBatchKey]:
        """Micro-batches that ranks have begun to accumulate since the last commit."""
        position = (self.head, *self.training_position)
        return [key for *at, key in self.accumulated if tuple(at) == position]

    def micro_batches_of(self, groups: Iterable[int]) -> list[MicroBatchKey]:
        """All micro-batches of these groups, in the order of a single rank."""
        number = num_micro_batches_per_group(self.settings.algebra)
        return [MicroBatchKey(group, index) for group in groups for index in range(number)]

    def is_scored(self, batch: int, group: int) -> bool:
        return self._num_members_scored[batch, group] == self.settings.algebra.group_size

    @property
    def training_is_ready(self) -> bool:
        """Whether a gang with nothing under way would have something to do."""
        algebra = self.settings.algebra
        epoch, minibatch = self.training_position
        due = self.due_of(minibatch)
        taken = set(self.micro_batches_taken)
        left = [group for group in due if not taken.issuperset(self.micro_batches_of([group]))]
        if epoch == algebra.num_epochs:
            return PUBLISHER not in self.under_way
        if not left:
            return True
        if self.settings.waits_for_whole_batch:
            return all(self.is_scored(self.head, group) for group in range(algebra.num_groups))
        return any(self.is_scored(self.head, group) for group in (left[:1] if self.settings.deterministic else left))

    @property
    def generation_is_begun(self) -> bool:
        """Whether lanes have begun all fragments of the batch to be trained now."""
        algebra = self.settings.algebra
        number = algebra.num_groups * -(-algebra.group_size // algebra.fragment_size)
        begun = {*self.generated, *self._under_way(Generate)}
        return sum(key.purpose is Purpose.TRAIN and key.batch == self.head for key in begun) == number

    def lanes(self, *roles: LaneRole) -> list[str]:
        return sorted(name for name, role in self.roles.items() if role in roles)

    @property
    def gang_is_free(self) -> bool:
        """Whether every trainer lane is free and none is lent."""
        trainers = self.lanes(LaneRole.TRAINER)
        is_any_busy = any(self.serves[lane] is not LaneRole.TRAINER or lane in self.under_way for lane in trainers)
        return bool(trainers) and not is_any_busy and GANG not in self.under_way

    # --- what an action is allowed to be ----------------------------------------------------------------------------

    def check(self, action: Action, scheduler: Scheduler) -> None:
        """Check one action that begins against the record."""
        worker = worker_of(action)
        assert worker not in self.leaving, f"{worker} was asked to leave, got {action}"
        assert worker not in self.under_way, f"{worker} is busy with {self.under_way[worker]}, got {action}"
        if self.roles.get(worker) is LaneRole.TRAINER and not isinstance(action, Accumulate):
            self._check_lent(action, worker)
        match action:
            case Switch(lane, to):
                assert self.serves[lane] is not to
            case Pull(lane, version):
                assert self.serves[lane] is LaneRole.ROLLOUT
                assert version in scheduler.state.needed_versions
                assert version != self.held_version[lane], "a pull that changes nothing"
            case Generate(lane, fragments):
                self._check_call(lane, fragments)
                for fragment in fragments:
                    self._check_generate(lane, fragment)
            case Score(lane, fragment):
                assert self.roles[lane] is LaneRole.REWARD
                assert fragment.key in self.generated
                assert fragment.key not in self.scored
                assert fragment.key not in self._under_way(Score)
            case _:
                self._check_training(action, scheduler)

    def _check_lent(self, action: Action, lane: str) -> None:
        """Check an action of a single trainer lane: it may be lent only while there is nothing to train."""
        settings = self.settings
        assert settings.is_colocated or settings.tag is not TrainerAssist.OFF
        assert GANG not in self.under_way, "the gang is at work"
        assert not self.is_reserved
        is_returning = isinstance(action, Switch) and action.to is LaneRole.TRAINER
        if is_returning:
            return
        is_needed = self.training_is_ready and (self.generation_is_begun or not settings.is_colocated)
        assert not is_needed, f"{action} on a lent lane while the gang is needed"

    def _check_generate(self, lane: str, fragment: Fragment) -> None:
        key = fragment.key
        assert self.serves[lane] is LaneRole.ROLLOUT
        assert key not in self.generated
        assert fragment.draw == sum(each.key == key for each in self.dropped), "one draw after the other"
        assert key not in self._under_way(Generate)
        assert self.held_version[lane] == fragment.policy_version
        if key.purpose is not Purpose.TRAIN:
            assert fragment.policy_version == self.requested[key.purpose, key.batch].policy_version
            return
        assert self.head <= key.batch <= self.num_complete + self.settings.max_staleness, "back-pressure"
        assert key.batch <= self.last_batch_allowed, "a batch begins only while admission is open"
        is_first = key.batch == self.settings.first_batch
        if self.settings.max_staleness == 0:
            of_batch = self.settings.first_batch_version if is_first else self.published_version
            assert fragment.policy_version == of_batch, "staleness 0"
        else:
            assert fragment.policy_version <= self.published_version, "a version not published yet"
        assert self.batch_versions.setdefault(key.batch, fragment.policy_version) == fragment.policy_version, "mixed"

    def _check_call(self, lane: str, fragments: Sequence[Fragment]) -> None:
        """Check how many fragments a lane generates at once."""
        assert len({fragment.key for fragment in fragments}) == len(fragments) > 0
        if len(fragments) == 1:
            return
        settings = self.settings
        assert not settings.deterministic, "the size of a call depends on timing"
        assert settings.is_colocated or self.roles[lane] is LaneRole.ROLLOUT, "lent lanes may return after any fragment"
        assert len({(each.key.purpose, each.key.batch, each.policy_version) for each in fragments}) == 1
        assert sum(len(fragment.members) for fragment in fragments) <= settings.algebra.num_trajectories_per_call
        self.num_shared_calls += 1

    def _under_way(self, kind: type[Generate] | type[Score]) -> list[FragmentKey]:
        actions = [action for action in self.under_way.values() if isinstance(action, kind)]
        fragments = [action.fragments if isinstance(action, Generate) else (action.fragment,) for action in actions]
        return [fragment.key for of_action in fragments for fragment in of_action]

    def _check_training(self, action: Action, scheduler: Scheduler) -> None:
        algebra = self.settings.algebra
        epoch, minibatch = self.training_position
        due = self.due_of(minibatch)
        if isinstance(action, Publish):
            assert (action.batch, action.policy_version) == (self.head - 1, self.snapshots[-1])
            assert action.policy_version == self.published_version + 1
            return
        assert not self.is_reserved
        if isinstance(action, Accumulate):
            assert (action.batch, action.epoch, action.minibatch) == (self.head, epoch, minibatch)
            self._check_accumulate(action, due, scheduler)
            return
        assert self.gang_is_free, "the gang commits only while none of its lanes is at work or lent"
        match action:
            case Commit():
                assert (action.batch, action.epoch, action.minibatch) == (self.head, epoch, minibatch)
                assert sorted(self.micro_batches_taken) == self.micro_batches_of(due)
                assert action.num_skipped_groups == algebra.num_groups_per_minibatch - len(due)
            case Snapshot():
                assert self.published_version == self.trainer_version, "one publish at a time"
                assert epoch == algebra.num_epochs
                assert (action.batch, action.policy_version) == (self.head, self.trainer_version + 1)
            case _:
                raise AssertionError(f"not an action of the gang: {action}")

    def _check_accumulate(self, action: Accumulate, due: list[int], scheduler: Scheduler) -> None:
        """Check one rank's share. `due`: the groups of the mini-batch."""
        settings, taken = self.settings, self.micro_batches_taken
        assert self.serves[action.lane] is LaneRole.TRAINER
        assert GANG not in self.under_way, "the gang is at work"
        assert len(set(action.micro_batches)) == len(action.micro_batches)
        assert set(action.micro_batches) <= set(self.micro_batches_of(due)) - set(taken)
        assert action.micro_batches or settings.equal_counts
        self._check_ready(action, scheduler)
        in_order = [*taken, *action.micro_batches]
        if settings.deterministic:
            assert in_order == self.micro_batches_of(due)[: len(in_order)]
        size = num_micro_batches_per_unit(settings.algebra, tsp=settings.tsp)
        assert len(action.micro_batches) % size == 0, "all denoising steps of a trajectory are on one rank"
        for first in range(0, len(action.micro_batches), size):
            of_unit = action.micro_batches[first : first + size]
            assert len({(key.group, key.index // size) for key in of_unit}) == 1
        assert settings.equal_counts or not action.num_padding

    def _check_ready(self, action: Accumulate, scheduler: Scheduler) -> None:
        algebra, batch = self.settings.algebra, action.batch
        groups = {key.group for key in action.micro_batches}
        needed = range(algebra.num_groups) if self.settings.waits_for_whole_batch else groups
        assert all(self.is_scored(batch, group) for group in needed)
        for group in groups:
            expected = [reward_of(FragmentKey(Purpose.TRAIN, batch, group, 0), m) for m in range(algebra.group_size)]
            assert list(scheduler.state.work.batches[batch].assembler.group_rewards(group)) == expected

    def check_in_step(self, actions: Sequence[Accumulate]) -> None:
        """Check the shares that ranks in step begin at once, before the first of them is recorded: they are those of
        whole groups, in order, and padded to the same number."""
        assert self.gang_is_free, "ranks in step begin and end together"
        assert sorted(action.lane for action in actions) == self.lanes(LaneRole.TRAINER)
        keys = [key for action in actions for key in action.micro_batches]
        groups = list(dict.fromkeys(key.group for key in keys))
        assert keys == self.micro_batches_of(groups)
        number = num_micro_batches(self.settings.algebra, len(groups), world_size=len(actions), tsp=self.settings.tsp)
        assert {len(action.micro_batches) + action.num_padding for action in actions} == {number}

    def check_left(self, action: Leave) -> None:
        assert action.lane in self.leaving, "only a lane that was asked to leave does"
        assert action.lane not in self.under_way, "it has finished what it had begun"

    def check_evaluation(self, action: EvaluationComplete) -> None:
        request = self.requested[action.purpose, action.batch]
        assert action.rewards == tuple(
            tuple(reward_of(FragmentKey(action.purpose, action.batch, group, 0), m) for m in range(request.group_size))
            for group in range(request.num_groups)
        )
        self.num_evaluations_complete += 1

    # --- what has happened ------------------------------------------------------------------------------------------

    def record_started(self, action: Action) -> None:
        self.under_way[worker_of(action)] = action
        if isinstance(action, Accumulate):
            at = action.batch, action.epoch, action.minibatch
            self.accumulated += [(*at, key) for key in action.micro_batches]

    def _record_complete(self, last: Fragment) -> None:
        """Record what becomes of the group of `last`, if that was the last of its fragments to be scored."""
        batch, group, algebra = last.key.batch, last.key.group, self.settings.algebra
        has_spread = has_synthetic_spread(last, self.settings.share_without_spread)
        if has_spread or not self.is_scored(batch, group):
            return
        if last.draw < algebra.max_resamples:
            keys = [
                key for key in self.generated if (key.purpose, key.batch, key.group) == (Purpose.TRAIN, batch, group)
            ]
            self.dropped += [self.generated.pop(key) for key in keys]
            self.scored -= set(keys)
            del self._num_members_scored[batch, group]
        elif algebra.filter_groups:
            self.skipped.add((batch, group))

    def record_finished(self, action: Action) -> None:
        del self.under_way[worker_of(action)]
        match action:
            case Pull(lane, version):
                self.held_version[lane] = version
            case Switch(lane, to):
                self.serves[lane] = to
            case Generate(lane, fragments):
                self.generated |= {fragment.key: fragment for fragment in fragments}
                self.num_fragments_lent += len(fragments) * (self.roles[lane] is LaneRole.TRAINER)
            case Score(_, fragment):
                self.scored.add(fragment.key)
                if fragment.key.purpose is Purpose.TRAIN:
                    self._num_members_scored[fragment.key.batch, fragment.key.group] += len(fragment.members)
                    self._record_complete(fragment)
            case Accumulate(batch=batch):
                self.staleness[batch] = self.trainer_version - self.batch_versions[batch]
            case Commit(batch, minibatch, epoch):
                self.committed.append((batch, epoch, minibatch))
            case Snapshot(_, version):
                self.snapshots.append(version)
                self.trainer_version = version
            case Publish(_, version):
                self.published.append(version)

    def record_lost(self, lane: str) -> None:
        del self.roles[lane], self.serves[lane], self.held_version[lane]
        self.under_way.pop(lane, None)
        self.leaving.discard(lane)
