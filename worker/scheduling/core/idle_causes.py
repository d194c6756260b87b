"""Why a free lane is idle, derived from what its role waits for.

    trainer   waits for complete groups      ◄── reward lanes score them ◄── rollout lanes generate them
              or for lanes of its gang that still accumulate or are lent
    reward    waits for generated fragments  ◄── rollout lanes
    rollout   waits for the next batch       ◄── the trainer's last commit ◄── its publish
              or for the staleness bound alone, which is back-pressure

While a version is being published, every lane that can do nothing before it waits for the publish. Invariant: all free
lanes of a role idle for the same cause.
"""

from worker.contracts.names import LaneRole
from worker.contracts.spans import IdleCause
from worker.scheduling.core.admission import Admission, OpenBatch
from worker.scheduling.core.lane_table import LaneTable
from worker.scheduling.core.messages import Snapshot


def idle_cause(
    role: LaneRole,
    *,
    lanes: LaneTable,
    admission: Admission,
    head: OpenBatch | None,
    is_publishing: bool,
    generators: LaneRole,
    num_ungenerated: int,
    num_unscored: int,
) -> IdleCause:
    """The cause for a free lane of `role`.

    Args:
        head: the batch being trained.
        generators: the role whose lanes generate without being lent.
        num_ungenerated: fragments of all open work that no lane has generated.
        num_unscored: fragments of all open work without rewards.
    """
    if isinstance(lanes.gang_action, Snapshot):
        return IdleCause.PUBLISH_WAIT
    missing = _missing_role(lanes, generators, num_ungenerated, num_unscored)
    if missing is LaneRole.TRAINER and lanes.gang_is_reserved:
        # The gang is reserved and has no lanes: it is being replaced.
        return IdleCause.RESIZE
    if missing is not None and missing is not role:
        return IdleCause.FAILURE if lanes.num_lost(missing) else IdleCause.START_UP
    if is_publishing and (head is None or head.training.is_complete):
        return IdleCause.PUBLISH_WAIT
    if role is LaneRole.TRAINER and head is not None:
        # With training work ready, a free trainer lane can only be waiting for others of its gang: those that are lent
        # or still accumulate, or a faster one that will end what is left sooner.
        return IdleCause.GANG_BARRIER if head.training.has_next else head.training.waiting_cause()
    if role is LaneRole.REWARD and num_ungenerated:
        return IdleCause.NO_FRAGMENT_READY
    if is_publishing and admission.more_to_come:
        return IdleCause.PUBLISH_WAIT
    if admission.is_throttled:
        return IdleCause.BACK_PRESSURE
    return IdleCause.BATCH_BARRIER if admission.more_to_come else IdleCause.DRAIN


def _missing_role(lanes: LaneTable, generators: LaneRole, num_ungenerated: int, num_unscored: int) -> LaneRole | None:
    """The role that has work but no lane at all; `None` where every role with work has one."""
    if num_ungenerated and not lanes.num(generators):
        return generators
    if num_unscored and not lanes.num(LaneRole.REWARD):
        return LaneRole.REWARD
    if not lanes.num(LaneRole.TRAINER):
        return LaneRole.TRAINER
    return None
