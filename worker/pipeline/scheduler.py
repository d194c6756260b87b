"""The scheduler: a pure state machine that decides which lane does what next.

An executor (Ray, simulator, emulator) loops: `apply(event, at)` for whatever happened, then start all
`next_actions(at)`. `at` is the executor's time in seconds, never running backwards: from it alone costs are learnt.

    EvaluationRequested ─┐
                         ▼
    admission ──► fragments to generate ──► rollout lane ──Generated──► fragments to score ──► reward lane
        ▲         (a free lane pulls the        ▲                                                 │ Scored
        │          most urgent one)             │ Pull when the lane holds another version        ▼
    Published                                   │                                          group assembler
        │                                       │                                                 │ complete groups
     Publish ◄── Snapshotted                    │                                                 ▼
                     └── batch trained ◄── Commit ◄── mini-batch accumulated ◄── Accumulate ── trainer gang

    who waits            for what                                        who unblocks it
    rollout lane         a fragment; the version that it is of           admission, `Published`; `Pulled`
    reward lane          a generated fragment                            rollout lanes
    trainer gang         a complete group of the open mini-batch         reward lanes
    the gang's lent lanes  the end of the fragment under way             themselves: `Generated`, then `Switched`
    the next snapshot    the version before it to be published            `Published`
    the next batch       the batch before it (at staleness 1: that one's generation)   the trainer gang (rollout lanes)
    an evaluation        its fragments, generated ahead of training      rollout, then reward lanes

With colocated placement there are no rollout lanes: the trainer lanes generate the whole batch, then train it.

Invariants: a lane has at most one action under way; every fragment is generated once, scored once and trained once in
each epoch, whatever lanes come and go; a fragment is generated under exactly the version it is stamped with; the same
events give the same actions. What is generated is never thrown away.
"""

from collections.abc import Iterator
from typing import Literal, assert_never

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import Placement, Role
from worker.contracts.sections import PipelineSpec
from worker.contracts.spans import IdleCause
from worker.pipeline.admission import Admission, BatchSettings, fresh_enough
from worker.pipeline.costs import CostBook, CostTable
from worker.pipeline.generation import Generation
from worker.pipeline.idle import idle_cause
from worker.pipeline.lanes import LaneTable
from worker.pipeline.lending import Lending
from worker.pipeline.open_work import OpenWork
from worker.pipeline.outlook import Lookout
from worker.pipeline.policies import policy_of
from worker.pipeline.protocol import ProtocolError, is_answer
from worker.pipeline.scoring import Scoring
from worker.pipeline.stopwatch import Stopwatch
from worker.pipeline.types import (
    Accumulated,
    Action,
    AdmissionClosed,
    AdmissionOpened,
    Committed,
    EvaluationRequested,
    Event,
    Generate,
    Generated,
    LaneJoined,
    LaneLost,
    Publish,
    Published,
    Pulled,
    Score,
    Scored,
    Snapshot,
    Snapshotted,
    Switched,
    TrainerReleased,
    TrainerReserved,
)


class Scheduler:
    """Drives one attempt of a run from `first_batch` to `num_batches`, starting on `policy_version`."""

    def __init__(
        self,
        algebra: BatchAlgebra,
        pipeline: PipelineSpec,
        *,
        advantage_std: Literal["group", "batch"],
        first_batch: int,
        num_batches: int,
        policy_version: int,
        first_batch_version: int | None = None,
        lends_together: bool = False,
        prior: CostTable | None = None,
    ) -> None:
        """
        Args:
            pipeline: the switches; placement must be resolved.
            advantage_std: with `batch`, rewards of the whole batch are needed before any group trains.
            first_batch_version: what the first batch is generated with, where it had begun on an older version than
                `policy_version` before the run was resumed.
            lends_together: trainer lanes switch as one, as sharded parameters demand.
            prior: costs to go by until the run has learnt its own.

        Raises:
            ValueError: for `placement: auto`, which the planner must have resolved, or numbers out of range.
        """
        if pipeline.placement is Placement.AUTO:
            raise ValueError("`pipeline.placement` must be resolved, got `auto`: ask the planner first")
        self._algebra = algebra
        self._settings = BatchSettings.resolve(pipeline, algebra, advantage_std)
        self._policy_version = policy_version
        first_version = fresh_enough(first_batch_version, policy_version, pipeline.max_staleness)
        self.costs = CostBook(prior)
        self._lanes = LaneTable()
        self._admission = Admission(first_batch, num_batches, pipeline.max_staleness, first_batch_version=first_version)
        self._generation = Generation(self._lanes)
        self._scoring = Scoring(self._lanes)
        self._stopwatch = Stopwatch(self.costs, algebra, self._lanes, tsp=pipeline.tsp)
        self.generators = Role.TRAINER if pipeline.placement is Placement.COLOCATED else Role.ROLLOUT
        """The role whose lanes generate by right, not by loan."""
        self._work = OpenWork(self._settings, self._generation)
        self.lending_policy = policy_of(pipeline, lambda: self._lookout(pipeline, lends_together))
        self._lending = Lending(self._lanes, self._generation, self.lending_policy, together=lends_together)
        self._publishing: Publish | None = None
        self._settled: list[Action] = []
        self._needs_restart = False
        # A role's lanes idle for one reason at a time: asked lane by lane, it is worked out once a turn.
        self._idle_causes: dict[Role, IdleCause] = {}

    def _lookout(self, pipeline: PipelineSpec, lends_together: bool) -> Lookout:
        return Lookout(
            algebra=self._algebra,
            settings=self._settings,
            max_staleness=pipeline.max_staleness,
            tsp=pipeline.tsp,
            lends_together=lends_together,
            lanes=self._lanes,
            generation=self._generation,
            scoring=self._scoring,
            admission=self._admission,
            batches=self._work.batches,
            costs=self.costs,
            policy_version=lambda: self._policy_version,
            publishing_since=lambda: None if self._publishing is None else self._stopwatch.snapshot_at,
        )

    # --- what happened ----------------------------------------------------------------------------------------------

    def apply(self, event: Event, at: float) -> None:
        """Take in one event. Raises `ProtocolError` for anything that no action under way can have led to."""
        self._idle_causes.clear()
        self._stopwatch.stop(event, at)
        match event:
            case LaneJoined():
                self._lane_joined(event)
            case LaneLost():
                self._lane_lost(event)
            case Pulled():
                self._lanes.finish(event.lane, event)
                self._lanes[event.lane].policy_version = event.policy_version
            case Switched():
                self._lanes.finish(event.lane, event)
            case Generated():
                self._generated(event)
            case Scored():
                self._scored(event)
            case Accumulated():
                self._lanes.finish_gang(event)
            case Committed():
                self._lanes.finish_gang(event)
                self._work.batches[event.batch].training.committed()
            case Snapshotted():
                self._snapshotted(event)
            case Published():
                self._published(event, at)
            case EvaluationRequested():
                self._evaluation_requested(event)
            case AdmissionClosed():
                self._admission.is_open = False
            case AdmissionOpened():
                self._admission.is_open = True
            case TrainerReserved():
                self._lanes.reserve_gang()
            case TrainerReleased():
                self._lanes.release_gang()
            case _:
                assert_never(event)

    def _lane_joined(self, event: LaneJoined) -> None:
        head = self._work.head
        if event.role is Role.TRAINER and head is not None and head.training.has_open_gradients:
            raise ProtocolError(
                f"trainer lane `{event.lane}` must join between optimizer steps, not amid a mini-batch "
                f"of batch {head.number}: it would lack the gradients accumulated so far"
            )
        self._lanes.join(event)

    def _lane_lost(self, event: LaneLost) -> None:
        lane = self._lanes.lose(event.lane)
        self._generation.lost(lane)
        self._scoring.lost(lane)
        self.costs.forget(lane.name)
        if lane.role is Role.TRAINER:
            self._needs_restart = True

    def _generated(self, event: Generated) -> None:
        action = self._lanes.finish(event.lane, event)
        assert isinstance(action, Generate)
        self._work.assembler_of(event.key).generated(event.key)
        self._scoring.enqueue(action.fragment)

    def _scored(self, event: Scored) -> None:
        action = self._lanes.finish(event.lane, event)
        assert isinstance(action, Score)
        self._work.assembler_of(event.key).scored(event.key, event.rewards)

    def _snapshotted(self, event: Snapshotted) -> None:
        action = self._lanes.finish_gang(event)
        assert isinstance(action, Snapshot)
        del self._work.batches[action.batch]
        self._publishing = Publish(action.batch, action.policy_version)
        self._settled.append(self._publishing)

    def _published(self, event: Published, at: float) -> None:
        action = self._publishing
        if action is None or not is_answer(event, action):
            raise ProtocolError(f"{event} must answer the publish under way, which is {action}: apply answers once")
        self._publishing = None
        self._policy_version = event.policy_version
        self._admission.batches_completed += 1
        self._settled += self._lending.settle(action.batch, at)

    def _evaluation_requested(self, event: EvaluationRequested) -> None:
        if event.policy_version != self._policy_version:
            raise ProtocolError(
                f"`policy_version` must be {self._policy_version}, the one published last, got {event.policy_version}"
            )
        self._work.open_evaluation(event)

    # --- what to start now ------------------------------------------------------------------------------------------

    def next_actions(self, at: float) -> list[Action]:
        """All that can start now; each lane named is occupied from here on, until its answer is applied."""
        self._idle_causes.clear()
        if self._needs_restart:
            return []
        self._begin_batches()
        actions: list[Action] = [*self._settled, *self._work.take_complete_evaluations(), *self._train(at)]
        self._settled.clear()
        training_waits = self._training_waits
        if training_waits:
            actions += self._lending.reclaim(training_waits=True, at=at)
        actions += self._generation.next_actions(self._policy_version, at)
        if self._begin_batches():
            # With the last fragment of a batch taken, lanes that are left over begin the next.
            actions += self._generation.next_actions(self._policy_version, at)
        if not training_waits:
            actions += self._lending.lend(tuple(self._work.batches), at)
            # Lent lanes that may stay go on without a switch.
            actions += self._generation.next_actions(self._policy_version, at)
            actions += self._lending.reclaim(training_waits=False, at=at)
        actions += self._scoring.next_actions(at)
        return actions

    @property
    def _generators_would_idle(self) -> bool:
        return not self._generation.num_waiting and self._lanes.num_free(self.generators) > 0

    @property
    def _training_waits(self) -> bool:
        """There is training work that only the absence of lent lanes holds up."""
        head = self._work.head
        if head is None or self._lanes.gang_action is not None:
            return False
        return head.training.has_next and not self._waits_for_publish

    @property
    def _waits_for_publish(self) -> bool:
        """The gang has trained all it may before the version under way is published: snapshots go one at a time."""
        head = self._work.head
        return self._publishing is not None and (head is None or head.training.is_complete)

    def _begin_batches(self) -> bool:
        """Begin what may begin; whether anything did."""
        has_begun = False
        while self._admission.may_begin(lanes_would_idle=self._generators_would_idle):
            number = self._admission.begin()
            self._work.begin_batch(number, self._admission.version_of(number, self._policy_version))
            has_begun = True
        return has_begun

    def _train(self, at: float) -> Iterator[Action]:
        head = self._work.head
        if head is None or not self._lanes.gang_is_free or self._waits_for_publish:
            return
        action: Action | None = head.training.take_next(self._lanes.num(Role.TRAINER))
        if head.training.is_complete:
            action = Snapshot(head.number, self._policy_version + 1)
        if action is not None:
            self._lanes.start_gang(action, at)
            yield action

    # --- how things stand -------------------------------------------------------------------------------------------

    @property
    def batches_completed(self) -> int:
        """Batches trained and published, those of earlier attempts included."""
        return self._admission.batches_completed

    @property
    def policy_version(self) -> int:
        """The version published last."""
        return self._policy_version

    @property
    def next_batch_version(self) -> int:
        """The version of the batch to be trained next: what it has begun on, or would begin on now."""
        head = self._work.head
        if head is not None:
            return head.policy_version
        if self._publishing is not None:
            return self._publishing.policy_version
        return self._admission.version_of(self._admission.batches_completed, self._policy_version)

    @property
    def needed_versions(self) -> frozenset[int]:
        """The versions that a lane may still be told to pull: keep their adapters on offer."""
        return self._work.policy_versions | {self._policy_version}

    @property
    def needs_restart(self) -> bool:
        """A trainer lane was lost, and open gradients with it: begin a new scheduler from the last checkpoint."""
        return self._needs_restart

    @property
    def is_quiescent(self) -> bool:
        """Nothing under way, nothing open, nothing that could start: a boundary with admission closed, or the end.

        By then every rollout lane has pulled the version published last, so each version is read back from all.
        """
        has_work = bool(self._work) or self._publishing is not None or self._admission.may_begin(lanes_would_idle=False)
        is_still = self._lanes.nothing_under_way and not has_work
        return is_still and not self._generation.is_any_lane_behind(self._policy_version)

    @property
    def is_at_boundary(self) -> bool:
        """No batch is open and the trainer gang is free: what it holds is the version published last."""
        return not self.has_open_batch and self._publishing is None and self._lanes.gang_is_free

    @property
    def has_open_batch(self) -> bool:
        """A batch has begun and is not trained."""
        return bool(self._work.batches)

    @property
    def is_finished(self) -> bool:
        """Every batch is trained and published, and no evaluation is open."""
        return self._admission.all_completed and self.is_quiescent

    def group_rewards(self, batch: int, group: int) -> tuple[float, ...]:
        """Rewards of a complete group of an open batch, in member order: what its advantages are computed from."""
        return self._work.batches[batch].assembler.group_rewards(group)

    def queues(self) -> dict[str, int]:
        """Depths now: fragments no lane has begun to generate, fragments waiting for a reward lane, groups to train."""
        head = self._work.head
        return {
            "fragments_to_generate": self._generation.num_waiting,
            "fragments_to_score": self._scoring.num_waiting,
            "groups_ready": head.training.num_ready_groups() if head else 0,
        }

    def idle_cause(self, lane: str) -> IdleCause | None:
        """Why a lane has nothing to do; `None` while it has. A lane that has not joined yet is starting up."""
        if lane not in self._lanes:
            return IdleCause.START_UP
        standing = self._lanes[lane]
        return None if self._lanes.is_busy(standing) else self._cause_of(standing.role)

    def idle_state(self) -> object:
        """Equal to an earlier one where no lane that idled then and since can have another cause now."""
        causes = tuple(self._cause_of(role) for role in Role)
        return self._lanes.num_joined, self._lanes.gang_is_reserved, causes

    def _cause_of(self, role: Role) -> IdleCause:
        if role not in self._idle_causes:
            self._idle_causes[role] = self._work_out_cause(role)
        return self._idle_causes[role]

    def _work_out_cause(self, role: Role) -> IdleCause:
        if self._needs_restart:
            return IdleCause.FAILURE
        return idle_cause(
            role,
            lanes=self._lanes,
            admission=self._admission,
            head=self._work.head,
            is_publishing=self._publishing is not None,
            generators=self.generators,
            num_ungenerated=self._work.num_ungenerated,
            num_unscored=self._work.num_unscored,
        )
