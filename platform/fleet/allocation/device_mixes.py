"""Which kinds of device the lanes of a run may be of, where several kinds are free. Pure.

    placement chosen by the user ─► `gang_alike`: one mix, trainers of one kind where that is possible
    placement: auto              ─► `mixes`: a few, for the planner to predict and compare

Devices are listed best first, as the caller judges them.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from fleet.allocation.lane_choice import LaneDemand
from fleet.lane_demand import kind_for
from fleet.models import LaneKind
from worker.contracts.device_names import can_train, divided
from worker.contracts.lanes import LaneSpec
from worker.contracts.names import LaneRole

MAX_MIXES = 6
"""Most mixes that are planned for one run: three kinds of device alone, and as many ways to mix them. Planning one
takes tenths of a second, and more where a thousand lanes are wanted."""


def gang_alike(
    free: Mapping[str, int], num_trainers: int, num_rollouts: int, order: Sequence[str]
) -> tuple[Counter[str], Counter[str]] | None:
    """Devices of the trainer and of the rollout lanes; `None` if the free lanes do not suffice.

    The first kind in `order` that has lanes for all is taken, else the first that has them for all trainers: unlike
    ranks of a gang wait for the slowest. Lanes of several GPUs cannot train; where they come first in `order`, rollout
    takes them first.
    """
    kinds = [device for device in order if free.get(device, 0)]
    training = [device for device in kinds if can_train(device)]
    for number in (num_trainers + num_rollouts, num_trainers):
        found = [device for device in training if free[device] >= number]
        if found:
            training = [found[0], *(device for device in training if device != found[0])]
            break
    trainers = taken_in_order(free, num_trainers, training)
    rest = {device: free[device] - trainers[device] for device in kinds}
    wide = [device for device in kinds[: kinds.index(training[0])] if not can_train(device)] if training else []
    own_kind_first = [*wide, *training, *(device for device in kinds if device not in (*wide, *training))]
    rollouts = taken_in_order(rest, num_rollouts, own_kind_first)
    suffice = trainers.total() == num_trainers and rollouts.total() == num_rollouts
    return (trainers, rollouts) if suffice else None


def mixes(free: Mapping[str, int], number: int, order: Sequence[str]) -> list[Counter[str]]:
    """Different ways to take so many lanes, at most `MAX_MIXES`; none if the free lanes do not suffice.

    First the best kinds that have enough, each alone. Then, for each kind that has not, all of its lanes, filled up
    with any of the others; of these the ones with the most lanes of the best kinds. Lanes of several GPUs, which cannot
    train, are mixed with one lane that can and with as many as half of all, where there are such.
    """
    kinds = [device for device in order if free.get(device, 0)]
    if sum(free[device] for device in kinds) < number:
        return []
    training = [device for device in kinds if can_train(device)]
    beside_wide = list(_beside_wide(free, number, kinds, training))
    alike = training if (training and sum(free[device] for device in training) >= number) or beside_wide else kinds
    alone = [Counter({device: number}) for device in alike if free[device] >= number]
    mixed = [
        taken_in_order(free, number, [device, other, *(rest for rest in kinds if rest not in (device, other))])
        for device in alike
        for other in alike
        if free[device] < number and other != device
    ]
    mixed += beside_wide
    distinct = [mix for position, mix in enumerate(mixed) if mix not in mixed[:position]]
    distinct.sort(key=lambda mix: [-mix[device] for device in kinds])
    return (alone[: MAX_MIXES // 2 if distinct else MAX_MIXES] + distinct)[:MAX_MIXES]


def _beside_wide(
    free: Mapping[str, int], number: int, kinds: Sequence[str], training: Sequence[str]
) -> Iterator[Counter[str]]:
    """For each kind of several GPUs, as many of its lanes as leave some that can train; filled up with lanes that can,
    and where these are too few with those of other such kinds."""
    wide_kinds = [device for device in kinds if device not in training]
    for device in wide_kinds if training else ():
        for num_training in sorted({1, number // 2} - {0}):
            mix = taken_in_order(free, num_training, training)
            mix += taken_in_order(free, number - mix.total(), [device])
            left = Counter(free) - mix
            mix += taken_in_order(left, number - mix.total(), [*training, *wide_kinds])
            if mix[device] and mix.total() == number:
                yield mix


def taken_in_order(free: Mapping[str, int], number: int, order: Sequence[str]) -> Counter[str]:
    """The devices of `number` lanes, or of as many as there are, taken kind by kind."""
    taken = Counter[str]()
    for device in order:
        taken[device] = min(free.get(device, 0), number - taken.total())
    return +taken


def demand_for(
    wanted: LaneSpec, pool: Mapping[LaneKind, int], free: Mapping[str, int], order: Sequence[str] = ()
) -> LaneDemand | None:
    """The lanes of a run whose placement is settled, by device; `None` if the free ones do not suffice. Kinds that
    `order` does not list come last, by name."""
    working = devices_of_kind(kind_for(LaneRole.TRAINER, pool), free, order)
    found = gang_alike(free, wanted.num_trainer, wanted.num_rollout, working)
    return None if found is None else with_rewards(*found, wanted, pool, free, order)


def with_rewards(
    trainers: Counter[str],
    rollouts: Counter[str],
    wanted: LaneSpec,
    pool: Mapping[LaneKind, int],
    free: Mapping[str, int],
    order: Sequence[str] = (),
) -> LaneDemand | None:
    """The demand with its reward lanes, which get the last kinds in `order` of what is left, and of several GPUs where
    nothing else is."""
    kind = kind_for(LaneRole.REWARD, pool, rewards_on=wanted.rewards_on)
    rest = {device: number - trainers[device] - rollouts[device] for device, number in free.items()}
    last_first = devices_of_kind(kind, free, order)[::-1]
    last_first.sort(key=can_train, reverse=True)
    rewards = taken_in_order(rest, wanted.num_reward, last_first)
    if rewards.total() < wanted.num_reward:
        return None
    return LaneDemand(trainers=trainers, rollouts=rollouts, rewards=rewards)


def devices_of_kind(kind: LaneKind, free: Mapping[str, int], order: Sequence[str] = ()) -> list[str]:
    """The devices of a kind of lane that are free, in this order, those that it does not list by number of GPUs and
    name."""
    found = [device for device in free if (device == LaneKind.CPU) is (kind is LaneKind.CPU)]
    return sorted(found, key=lambda device: (order.index(device) if device in order else len(order), divided(device)))
