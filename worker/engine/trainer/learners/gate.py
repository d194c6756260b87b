"""Which policy replays for the replay gate, on fresh data."""

from collections.abc import Sequence

from worker.engine.errors import SyncError
from worker.engine.trainer.learners.base import GateMode
from worker.engine.trainer.policy.policies import BehaviourPolicy
from worker.engine.types import GroupBatch, PublishedVersion


def gate_mode(
    policy: BehaviourPolicy | None, groups: Sequence[GroupBatch], behaviour: PublishedVersion | None, staleness: int
) -> GateMode:
    """The policy being trained where it drew the data; for stale data `policy`, to which `behaviour` is bound.

    Raises:
        SyncError: when `behaviour` is needed and missing, or did not draw `groups`.
    """
    if not staleness:
        return GateMode.CURRENT_POLICY
    if policy is None or behaviour is None:
        raise SyncError(f"`behaviour` must be given to check the replay gate on data of staleness {staleness}")
    policy.bind_version_of(groups, behaviour)
    return GateMode.BEHAVIOUR_POLICY
