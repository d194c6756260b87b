"""The scheduler: a pure state machine that decides which lane does what next.

An executor (Ray, simulator, emulator) loops: `apply(event, at)` for each event that happened, then start all
`next_actions(at)`. `at` is the executor's time in seconds, never decreasing; costs are measured from it alone.

    EvaluationRequested ─┐
                         ▼
    admission ──► fragments to generate ──► rollout lane ──Generated──► fragments to score ──► reward lane
        ▲         (a free lane pulls the        ▲                                                 │ Scored
        │          most urgent one)             │ Pull when the lane holds another version        ▼
    Published                                   │                                          group assembler
        │                                       │                                                 │ complete groups
     Publish ◄── Snapshotted                    │                                                 ▼
                     └── batch trained ◄── Commit ◄── mini-batch accumulated ◄── Accumulate ── trainer ranks

    what waits             for what                                      what unblocks it
    a rollout lane         a fragment; the fragment's version            admission, `Published`; `Pulled`
    a reward lane          a generated fragment                          rollout lanes
    a trainer rank         a complete group of the open mini-batch       reward lanes
    the next commit        ranks that accumulate; lanes that are lent    `Accumulated`; `Generated`, then `Switched`
    the next snapshot      the publish of the version before it          `Published`
    the next batch         the publish of the batch before it            the trainer gang
                           (staleness 1: the end of its generation)      (rollout lanes)
    an evaluation          its fragments, behind those of its version    rollout lanes, then reward lanes
                           that are trained on (first, where trainer
                           lanes generate)

With colocated placement there are no rollout lanes: the trainer lanes generate the whole batch and train it, each from
when no fragment is left for it, or before if it is better at training than others (`early_training`).

With `max_resamples` a complete group without spread returns to the fragments to generate, as its next draw; with
`filter_groups` one that is kept is not accumulated.

Invariants: a lane has at most one action under way; every fragment of every draw is generated once and scored once, and
those of the draw that is kept are trained once in each epoch (never, if their group is skipped), whatever lanes join or
are lost; a fragment is generated under exactly the version that it names; the same events give the same actions. No
generated fragment is discarded but those of a draw without spread.
"""

from typing import Literal, assert_never

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import LaneRole, Placement
from worker.contracts.sections import PipelineSpec
from worker.scheduling.core.admission import Admission, BatchSettings, resumed_batch_version
from worker.scheduling.core.call_sizes import CallSizes
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.cost_observer import CostObserver
from worker.scheduling.core.costs import CostTable
from worker.scheduling.core.gang_work import GangWork
from worker.scheduling.core.generation import Generation, evaluations_first, evaluations_while_training
from worker.scheduling.core.generation_shares import GenerationShares
from worker.scheduling.core.lane_table import LaneTable
from worker.scheduling.core.lending import Lending, LendingPolicy
from worker.scheduling.core.messages import (
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
    Leave,
    LeaveRequested,
    Measured,
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
from worker.scheduling.core.open_work import OpenWork
from worker.scheduling.core.protocol import ProtocolError, is_answer
from worker.scheduling.core.scoring import Scoring
from worker.scheduling.core.state import SchedulerState


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
        lending_policy: LendingPolicy | None = None,
        lends_together: bool = False,
        equal_counts: bool = False,
        prior: CostTable | None = None,
        learns_costs: bool = True,
    ) -> None:
        """
        Args:
            pipeline: the switches; placement must be resolved.
            advantage_std: with `batch`, rewards of the whole batch are needed before any group trains.
            first_batch_version: the version of the first batch, where it had begun on an older one than
                `policy_version` before the run was resumed.
            lending_policy: decides when trainer lanes generate; `lending_policies.lending_policy` finds the one for the
                switches. Without one they never generate.
            lends_together: trainer lanes are lent all together or not at all, as sharded parameters require.
            equal_counts: ranks take equally many micro-batches in step, as ZeRO 2 and 3 require.
            prior: cost estimates to use until the run has measured its own.
            learns_costs: measure what work costs; not needed where every duration is the prior's, as in a simulation.

        Raises:
            ValueError: for `placement: auto`, which the planner must have resolved, for a missing policy, or for
                numbers out of range.
        """
        _check_switches(pipeline, lending_policy)
        settings = BatchSettings.resolve(pipeline, algebra, advantage_std, equal_counts=equal_counts)
        first_version = resumed_batch_version(first_batch_version, policy_version, pipeline.max_staleness)
        lanes, costs = LaneTable(), CostModel(prior)
        generation = Generation(lanes, *_sharing(algebra, pipeline, lanes, costs))
        self.state = SchedulerState(
            generators=_generators(pipeline),
            lends_together=lends_together,
            equal_counts=equal_counts,
            lanes=lanes,
            admission=Admission(first_batch, num_batches, settings.max_staleness, first_batch_version=first_version),
            generation=generation,
            scoring=Scoring(lanes),
            work=OpenWork(settings, generation),
            costs=costs,
            policy_version=policy_version,
        )
        self._pipeline, self._advantage_std = pipeline, advantage_std
        self._cost_observer = CostObserver(self.state) if learns_costs else None
        self._gang_work = GangWork(self.state)
        self._lending = Lending(self.state, lending_policy)
        self._order_generation()
        self._pending: list[Action] = []
        """Actions that follow from the events applied, to be returned by the next `next_actions`."""

    def revise(self, pipeline: PipelineSpec, fragment_size: int, lending_policy: LendingPolicy | None) -> None:
        """Work by other switches from now on: lending at once, `gap` and the fragment size in batches that have not
        begun, placement and the others only between two batches, since a batch that is open was begun by them.

        Raises:
            ValueError: for a switch that cannot change while a batch is open, or a size that does not divide a group.
        """
        _check_switches(pipeline, lending_policy)
        if self._pipeline.model_copy(update={"gap": pipeline.gap, "tag": pipeline.tag}) != pipeline:
            self._revise_between_batches(pipeline)
        self._pipeline, algebra = pipeline, self.state.algebra.with_fragment_size(fragment_size)
        self.state.work.settings = BatchSettings.resolve(
            pipeline, algebra, self._advantage_std, equal_counts=self.state.equal_counts
        )
        self._lending.policy = lending_policy
        self._order_generation()

    def _revise_between_batches(self, pipeline: PipelineSpec) -> None:
        """Take the switches on which open work depends."""
        state = self.state
        if state.has_open_batch:
            raise ValueError(
                f"`pipeline` must differ from {self._pipeline} in `gap` and `tag` alone while a batch is open, "
                f"got {pipeline}: close admission, and revise the others once the open batches are trained"
            )
        state.generators = _generators(pipeline)
        state.generation.share_by(*_sharing(state.algebra, pipeline, state.lanes, state.costs))
        state.admission.max_staleness = pipeline.max_staleness

    @property
    def evaluates_first(self) -> bool:
        """Whether an evaluation is generated before batches, because trainer lanes generate: after training they hold
        another version. Otherwise it is generated while its version is trained on."""
        return self._lending.policy is not None

    def _order_generation(self) -> None:
        self.state.generation.order_by(evaluations_first if self.evaluates_first else evaluations_while_training)

    # --- what happened ----------------------------------------------------------------------------------------------

    def apply(self, event: Event, at: float) -> None:
        """Change the state by one event. Raises `ProtocolError` for an event that no action under way can lead to."""
        self.state.clear_idle_causes()
        if self._cost_observer is not None:
            self._cost_observer.observe(event, at)
        match event:
            case LaneJoined():
                self._lane_joined(event)
            case LaneLost():
                self._lane_lost(event)
            case LeaveRequested():
                # A fragment that is kept for the lane goes to another.
                self.state.generation.unassign(self.state.lanes.ask_to_leave(event.lane))
            case Pulled():
                self.state.lanes.finish(event.lane, event)
                self.state.lanes[event.lane].policy_version = event.policy_version
            case Switched():
                self.state.lanes.finish(event.lane, event)
            case Generated():
                self._generated(event)
            case Scored():
                self._scored(event)
            case Accumulated():
                self._gang_work.accumulated(event)
            case Committed():
                self._gang_work.committed(event)
            case Snapshotted():
                self._snapshotted(event, at)
            case Published():
                self._published(event, at)
            case EvaluationRequested():
                self._evaluation_requested(event)
            case AdmissionClosed():
                self.state.admission.is_open = False
            case AdmissionOpened():
                self.state.admission.is_open = True
            case TrainerReserved():
                self.state.lanes.reserve_gang()
            case TrainerReleased():
                self.state.lanes.release_gang()
            case Measured():
                pass
            case _:
                assert_never(event)

    def _lane_joined(self, event: LaneJoined) -> None:
        head = self.state.head
        if event.role is LaneRole.TRAINER and head is not None and head.training.has_open_gradients:
            raise ProtocolError(
                f"trainer lane `{event.lane}` must join between optimizer steps, not amid a mini-batch "
                f"of batch {head.number}: it would lack the gradients accumulated so far"
            )
        self.state.lanes.join(event)

    def _lane_lost(self, event: LaneLost) -> None:
        lane = self.state.lanes.lose(event.lane)
        self.state.generation.requeue(lane)
        self.state.scoring.requeue(lane)
        self.state.costs.remove_lane(lane.name)
        if lane.role is LaneRole.TRAINER:
            self.state.trainer_lost = True

    def _generated(self, event: Generated) -> None:
        action = self.state.lanes.finish(event.lane, event)
        assert isinstance(action, Generate)
        for fragment in action.fragments:
            self.state.work.assembler_of(fragment.key).generated(fragment.key)
            self.state.scoring.enqueue(fragment)

    def _scored(self, event: Scored) -> None:
        action = self.state.lanes.finish(event.lane, event)
        assert isinstance(action, Score)
        self.state.work.scored(event)

    def _snapshotted(self, event: Snapshotted, at: float) -> None:
        action = self.state.lanes.finish_gang(event)
        assert isinstance(action, Snapshot)
        del self.state.work.batches[action.batch]
        self.state.publishing, self.state.snapshot_at = Publish(action.batch, action.policy_version), at
        self._pending.append(self.state.publishing)

    def _published(self, event: Published, at: float) -> None:
        action = self.state.publishing
        if action is None or not is_answer(event, action):
            raise ProtocolError(f"{event} must answer the publish under way, which is {action}: apply answers once")
        self.state.publishing = None
        self.state.policy_version = event.policy_version
        self.state.admission.batches_completed += 1
        self._pending += self._lending.settle(action.batch, at)

    def _evaluation_requested(self, event: EvaluationRequested) -> None:
        if event.policy_version != self.state.policy_version:
            raise ProtocolError(
                f"`policy_version` must be {self.state.policy_version}, the one published last, "
                f"got {event.policy_version}"
            )
        self.state.work.open_evaluation(event)

    # --- what to start now ------------------------------------------------------------------------------------------

    def next_actions(self, at: float) -> list[Action]:
        """All actions that can start now. Each lane named by one is occupied until the answer is applied."""
        self.state.clear_idle_causes()
        if self.state.trainer_lost:
            return []
        self._begin_batches()
        training_waits = self.state.training_waits
        actions: list[Action] = [Leave(lane.name) for lane in self.state.lanes.take_departing()]
        actions += [*self._pending, *self.state.work.take_complete_evaluations()]
        actions += self._gang_work.next_actions(at)
        self._pending.clear()
        if training_waits:
            actions += self._lending.reclaim(training_waits=True, at=at)
        self._lending.train_early(at)
        actions += self.state.generation.next_actions(self.state.policy_version, at)
        if self._begin_batches():
            # The last fragment of the batch was taken just now, so the lanes without one begin the next batch.
            actions += self.state.generation.next_actions(self.state.policy_version, at)
        if not training_waits:
            actions += self._lending.lend(tuple(self.state.work.batches), at)
            # Lent lanes with a new allowance take their next fragment without switching back first.
            actions += self.state.generation.next_actions(self.state.policy_version, at)
            actions += self._lending.reclaim(training_waits=False, at=at)
        actions += self.state.scoring.next_actions(at)
        return actions

    def _begin_batches(self) -> bool:
        """Begin all batches that may begin; returns whether any did."""
        has_begun = False
        while self.state.admission.may_begin(generators_would_idle=self.state.generators_would_idle):
            number = self.state.admission.begin()
            self.state.work.begin_batch(number, self.state.admission.version_of(number, self.state.policy_version))
            has_begun = True
        return has_begun


def _generators(pipeline: PipelineSpec) -> LaneRole:
    """The role whose lanes generate without being lent."""
    return LaneRole.TRAINER if pipeline.placement is Placement.COLOCATED else LaneRole.ROLLOUT


def _sharing(
    algebra: BatchAlgebra, pipeline: PipelineSpec, lanes: LaneTable, costs: CostModel
) -> tuple[CallSizes, GenerationShares | None]:
    """How fragments are divided among the lanes that generate."""
    shares = GenerationShares(lanes, costs) if pipeline.placement is Placement.COLOCATED else None
    sizes = CallSizes(
        algebra,
        lanes,
        costs,
        generators=_generators(pipeline),
        deterministic=pipeline.deterministic,
        shares=shares,
    )
    return sizes, shares


def _check_switches(pipeline: PipelineSpec, lending_policy: LendingPolicy | None) -> None:
    if pipeline.placement is Placement.AUTO:
        raise ValueError(
            "`pipeline.placement` must be `colocated` or `disaggregated`, got `auto`: let the planner resolve it"
        )
    if pipeline.trainers_generate and lending_policy is None:
        raise ValueError(
            f"`lending_policy` must be given for `placement` {pipeline.placement} with `tag` {pipeline.tag}, "
            "got none: trainer lanes would never generate"
        )
