"""Which lane's card a reward lane computes on, where reward lanes share cards (`lanes.rewards_on: shared_gpu`).

The reward lane's process sees the card by its UUID and occupies none of Ray's resources for it: those of the card are
the other lane's, those of the reward lane its CPU slot's. Invariants: a reward lane shares a card of its own node, of a
lane that generates where one is there; no card is shared by two, since a plan counts the memory of one.
"""

from collections.abc import Iterable

from worker.contracts.lanes import CPU_DEVICE, LaneGrant
from worker.contracts.names import LaneRole


def card_to_share(reward: LaneGrant, grants: Iterable[LaneGrant], taken: Iterable[str]) -> LaneGrant | None:
    """The lane whose card suits a reward lane best; `None` where no lane on its node has one that is free for it.

    Args:
        reward: a reward lane without a card.
        grants: the run's lanes.
        taken: by each other reward lane, the lane whose card it shares.
    """
    occupied = frozenset(taken)
    there = [
        grant
        for grant in grants
        if (grant.node, grant.ray_node_id) == (reward.node, reward.ray_node_id)
        and has_card(grant)
        and grant.lane not in occupied
    ]
    # Trainer lanes wait for the slowest of their gang, so they share only where none but they generate.
    suited = [grant for grant in there if grant.role is LaneRole.ROLLOUT] or there
    # A borrowed lane may have to be given back at any time.
    return min(suited, key=lambda grant: grant.is_borrowed, default=None)


def has_card(grant: LaneGrant) -> bool:
    """Whether a lane that generates or trains has a card that others could share."""
    return grant.role is not LaneRole.REWARD and grant.device != CPU_DEVICE


def as_shared(reward: LaneGrant, card: LaneGrant) -> LaneGrant:
    """The reward lane with the first GPU of another, on its own resources."""
    return reward.model_copy(update={"gpus": card.gpus[:1], "uuids": card.uuids[:1]})
