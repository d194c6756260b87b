"""The state of one attempt: its lanes, the open work, the versions published, and what work costs.

Only the scheduler changes it. Executors ask it how far the run is and why a lane idles; a lending policy reads all of
it to predict when the open batches end. Invariant: the state follows from the events applied so far, so equal events
give an equal state.
"""

from dataclasses import dataclass, field

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import LaneRole
from worker.contracts.spans import IdleCause
from worker.scheduling.core.admission import Admission, BatchSettings, OpenBatch
from worker.scheduling.core.cost_model import CostModel
from worker.scheduling.core.generation import Generation
from worker.scheduling.core.idle_causes import idle_cause
from worker.scheduling.core.lane_table import LaneTable
from worker.scheduling.core.messages import Publish, Pull
from worker.scheduling.core.open_work import OpenWork
from worker.scheduling.core.scoring import Scoring


@dataclass(slots=True, kw_only=True)
class SchedulerState:
    """The scheduler's parts, and the questions that take several of them to answer."""

    generators: LaneRole
    """The role whose lanes generate without being lent: trainer lanes if colocated, rollout lanes otherwise."""
    lends_together: bool
    """Trainer lanes are lent all together or not at all, because their parameters are sharded over them (ZeRO 3)."""
    equal_counts: bool
    """Ranks take equally many micro-batches in step, because gradients are reduced in every backward pass (ZeRO 2 and
    3)."""
    lanes: LaneTable
    admission: Admission
    generation: Generation
    scoring: Scoring
    work: OpenWork
    costs: CostModel
    policy_version: int
    """The version published last."""
    publishing: Publish | None = None
    """The publish under way; `None` where there is none."""
    snapshot_at: float = 0.0
    """When the trainer gang took its last snapshot, in seconds of the executor's clock."""
    trainer_lost: bool = False
    """A trainer lane was lost, and open gradients with it: this scheduler starts nothing more, and the attempt must
    continue with a new one."""
    _idle_causes: dict[LaneRole, IdleCause] = field(default_factory=dict)

    @property
    def settings(self) -> BatchSettings:
        """Those of the batches that begin from now on."""
        return self.work.settings

    @property
    def algebra(self) -> BatchAlgebra:
        """The numbers of the batches that begin from now on."""
        return self.work.settings.algebra

    # --- training and publishing ------------------------------------------------------------------------------------

    @property
    def head(self) -> OpenBatch | None:
        """The batch being trained: the oldest one open."""
        return self.work.head

    @property
    def waits_for_publish(self) -> bool:
        """Whether the gang has nothing to do before the publish under way ends: a rank keeps one snapshot at a time, so
        versions are published one after the other."""
        return self.publishing is not None and (self.head is None or self.head.training.is_complete)

    @property
    def training_waits(self) -> bool:
        """Whether there is training work that no rank has begun, or a commit to come: lent lanes must return for it.
        Colocated lanes first generate the whole batch, since nobody else does."""
        if self.head is None or self.lanes.gang_action is not None:
            return False
        if self.generators is LaneRole.TRAINER and self.generation.num_waiting_for_training:
            return False
        return self.head.training.has_next and not self.waits_for_publish

    @property
    def generators_would_idle(self) -> bool:
        """Whether a lane that generates without being lent is free, and no fragment waits."""
        return not self.generation.num_waiting and self.lanes.num_free(self.generators) > 0

    # --- how far the run is -----------------------------------------------------------------------------------------

    @property
    def batches_completed(self) -> int:
        """The number of batches trained and published, those of earlier attempts included."""
        return self.admission.batches_completed

    @property
    def next_batch_version(self) -> int:
        """The version of the batch to be trained next: the one it has begun on, or would begin on now."""
        if self.head is not None:
            return self.head.policy_version
        if self.publishing is not None:
            return self.publishing.policy_version
        return self.admission.version_of(self.admission.batches_completed, self.policy_version)

    @property
    def needed_versions(self) -> frozenset[int]:
        """The versions that a lane pulls or may still have to pull; the executor must keep their weights available."""
        pulled = {lane.under_way.policy_version for lane in self.lanes if isinstance(lane.under_way, Pull)}
        return self.work.policy_versions | pulled | {self.policy_version}

    @property
    def has_open_batch(self) -> bool:
        """Whether a batch has begun and is not trained."""
        return bool(self.work.batches)

    @property
    def trains_on(self) -> bool:
        """Whether a batch has begun and is not trained, or one will follow."""
        return self.has_open_batch or self.admission.more_to_come

    @property
    def is_quiescent(self) -> bool:
        """Whether nothing is under way, nothing is open, and nothing could start: at a boundary with admission closed,
        or at the end.

        Every rollout lane has pulled the version published last by then, so each version is verified on every lane.
        """
        has_work = (
            bool(self.work) or self.publishing is not None or self.admission.may_begin(generators_would_idle=False)
        )
        is_idle = self.lanes.nothing_under_way and not has_work
        return is_idle and not self.generation.is_any_lane_behind(self.policy_version)

    @property
    def is_at_boundary(self) -> bool:
        """Whether no batch is open and the trainer gang is free, so that its weights are the version published last."""
        return not self.has_open_batch and self.publishing is None and self.lanes.gang_is_free

    @property
    def is_finished(self) -> bool:
        """Whether every batch is trained and published, and no evaluation is open."""
        return self.admission.all_completed and self.is_quiescent

    def queues(self) -> dict[str, int]:
        """The present lengths of the queues: fragments that no lane has begun to generate, fragments that no reward
        lane has begun to score, and complete groups that are not trained."""
        return {
            "fragments_to_generate": self.generation.num_waiting,
            "fragments_to_score": self.scoring.num_waiting,
            "groups_ready": self.head.training.num_ready_groups() if self.head else 0,
        }

    # --- why a lane idles -------------------------------------------------------------------------------------------

    def idle_cause(self, lane: str) -> IdleCause | None:
        """Why a lane has nothing to do; `None` while it is at work. A lane that has not joined yet is starting up."""
        if lane not in self.lanes:
            return IdleCause.START_UP
        joined = self.lanes[lane]
        return None if self.lanes.is_busy(joined) else self._cause_of(joined.role)

    def idle_state(self) -> object:
        """A value that is equal to an earlier one if every lane that has idled since then has the same cause still."""
        causes = tuple(self._cause_of(role) for role in LaneRole)
        return self.lanes.num_joined, self.lanes.gang_is_reserved, causes

    def clear_idle_causes(self) -> None:
        """Drop the cached causes; the scheduler calls it whenever anything changes. All free lanes of a role idle for
        the same cause, so it is found once for all of them."""
        self._idle_causes.clear()

    def _cause_of(self, role: LaneRole) -> IdleCause:
        if role not in self._idle_causes:
            self._idle_causes[role] = self._find_cause(role)
        return self._idle_causes[role]

    def _find_cause(self, role: LaneRole) -> IdleCause:
        if self.trainer_lost:
            return IdleCause.FAILURE
        return idle_cause(
            role,
            lanes=self.lanes,
            admission=self.admission,
            head=self.head,
            is_publishing=self.publishing is not None,
            generators=self.generators,
            num_ungenerated=self.work.num_ungenerated,
            num_unscored=self.work.num_unscored,
        )
