"""The lanes of a small run, for tests of the driver without a cluster."""

from worker.contracts.names import LaneRole

ROLES = {
    "rollout-0": LaneRole.ROLLOUT,
    "rollout-1": LaneRole.ROLLOUT,
    "trainer-0": LaneRole.TRAINER,
    "reward-0": LaneRole.REWARD,
}
