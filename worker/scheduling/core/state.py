"""Where an attempt stands: its lanes, the work that is open, the versions published, what work costs.

The scheduler alone writes it. Executors ask it how far the run is and why a lane idles; a lending policy reads all of
it to predict when the open batches end.

Invariant: everything here follows from the events applied so far, so equal events give an equal state.
"""

from dataclasses import dataclass, field

from worker.contracts.algebra import BatchAlgebra
from worker.contracts.names import LaneRole
from worker.contracts.spans import IdleCause
from worker.scheduling.core.admission import Admission, BatchSettings, OpenBatch
from worker.scheduling.core.costs import CostModel
from worker.scheduling.core.generation import Generation
from worker.scheduling.core.idle_causes import idle_cause
from worker.scheduling.core.lane_table import LaneTable
from worker.scheduling.core.messages import Publish
from worker.scheduling.core.open_work import OpenWork
from worker.scheduling.core.scoring import Scoring


@dataclass(slots=True, kw_only=True)
class SchedulerState:
    """The parts that decide what happens next, and what can be asked of them together."""

    algebra: BatchAlgebra
    settings: BatchSettings
    generators: LaneRole
    """The role whose lanes generate by right, not by loan."""
    lends_together: bool
    """Trainer lanes switch as one, because their parameters are sharded over all of them (ZeRO 3)."""
    lanes: LaneTable
    admission: Admission
    generation: Generation
    scoring: Scoring
    work: OpenWork
    costs: CostModel
    policy_version: int
    """The version published last."""
    publishing: Publish | None = None
    """The publish under way."""
    snapshot_at: float = 0.0
    """When the trainer gang took its last snapshot, in seconds of the executor's clock."""
    trainer_lost: bool = False
    """A trainer lane was lost, and open gradients with it: nothing goes on until a new scheduler does."""
    _idle_causes: dict[LaneRole, IdleCause] = field(default_factory=dict)

    # --- training and publishing ------------------------------------------------------------------------------------

    @property
    def head(self) -> OpenBatch | None:
        """The batch being trained: the oldest one open."""
        return self.work.head

    @property
    def waits_for_publish(self) -> bool:
        """The gang has trained all it may before the version under way is published: snapshots go one at a time."""
        return self.publishing is not None and (self.head is None or self.head.training.is_complete)

    @property
    def training_waits(self) -> bool:
        """There is training work that only the absence of lent lanes holds up."""
        if self.head is None or self.lanes.gang_action is not None:
            return False
        return self.head.training.has_next and not self.waits_for_publish

    @property
    def generators_would_idle(self) -> bool:
        """Some lane that generates by right is free, and no fragment waits for it."""
        return not self.generation.num_waiting and self.lanes.num_free(self.generators) > 0

    def group_rewards(self, batch: int, group: int) -> tuple[float, ...]:
        """The rewards of a complete group of an open batch, in member order: what advantages are computed from."""
        return self.work.batches[batch].assembler.group_rewards(group)

    # --- how far the run is -----------------------------------------------------------------------------------------

    @property
    def batches_completed(self) -> int:
        """Batches trained and published, those of earlier attempts included."""
        return self.admission.batches_completed

    @property
    def next_batch_version(self) -> int:
        """The version of the batch to be trained next: what it has begun on, or would begin on now."""
        if self.head is not None:
            return self.head.policy_version
        if self.publishing is not None:
            return self.publishing.policy_version
        return self.admission.version_of(self.admission.batches_completed, self.policy_version)

    @property
    def needed_versions(self) -> frozenset[int]:
        """The versions that a lane may still be told to pull: keep their weights available."""
        return self.work.policy_versions | {self.policy_version}

    @property
    def has_open_batch(self) -> bool:
        """A batch has begun and is not trained."""
        return bool(self.work.batches)

    @property
    def is_quiescent(self) -> bool:
        """Nothing is under way, nothing open, and nothing could start: a boundary with admission closed, or the end.

        By then every rollout lane has pulled the version published last, so each version is read back from all.
        """
        has_work = bool(self.work) or self.publishing is not None or self.admission.may_begin(lanes_would_idle=False)
        is_still = self.lanes.nothing_under_way and not has_work
        return is_still and not self.generation.is_any_lane_behind(self.policy_version)

    @property
    def is_at_boundary(self) -> bool:
        """No batch is open and the trainer gang is free: the weights it holds are the version published last."""
        return not self.has_open_batch and self.publishing is None and self.lanes.gang_is_free

    @property
    def is_finished(self) -> bool:
        """Every batch is trained and published, and no evaluation is open."""
        return self.admission.all_completed and self.is_quiescent

    def queues(self) -> dict[str, int]:
        """Depths now: fragments no lane has begun to generate, fragments waiting for a reward lane, groups to train."""
        return {
            "fragments_to_generate": self.generation.num_waiting,
            "fragments_to_score": self.scoring.num_waiting,
            "groups_ready": self.head.training.num_ready_groups() if self.head else 0,
        }

    # --- why a lane idles -------------------------------------------------------------------------------------------

    def idle_cause(self, lane: str) -> IdleCause | None:
        """Why a lane has nothing to do; `None` while it has. A lane that has not joined yet is starting up."""
        if lane not in self.lanes:
            return IdleCause.START_UP
        joined = self.lanes[lane]
        return None if self.lanes.is_busy(joined) else self._cause_of(joined.role)

    def idle_state(self) -> object:
        """Equal to an earlier one where no lane that idled then and since can have another cause now."""
        causes = tuple(self._cause_of(role) for role in LaneRole)
        return self.lanes.num_joined, self.lanes.gang_is_reserved, causes

    def clear_idle_causes(self) -> None:
        """Called by the scheduler when anything changes: a role's lanes idle for one reason at a time, and asked lane
        by lane it is worked out once."""
        self._idle_causes.clear()

    def _cause_of(self, role: LaneRole) -> IdleCause:
        if role not in self._idle_causes:
            self._idle_causes[role] = self._work_out_cause(role)
        return self._idle_causes[role]

    def _work_out_cause(self, role: LaneRole) -> IdleCause:
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
