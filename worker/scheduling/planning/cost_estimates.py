"""From operations and bytes to seconds: what each kind of work is expected to cost on each lane.

    Workload    ┐
    Accelerator ┴─► LaneCosts of each lane ─► PoolCosts ─► CostTable for a choice of trainer lanes
                                                 ▲
    MeasuredCostTable of earlier runs ───────────┘ replaces the estimates (`measured_costs`)

Seconds = operations ÷ (peak × efficiency) + launching + bytes ÷ bandwidth. Invariant: an estimate depends on its
arguments alone, and every assumption is a named constant or a field with a range.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from worker.contracts.names import RewardDevice
from worker.scheduling.core.costs import GANG, Cost, CostKind
from worker.scheduling.core.spread_share import further_draws, trained_share
from worker.scheduling.planning.exchanged_bytes import bytes_of_trajectory, bytes_of_unit
from worker.scheduling.planning.memory import MemoryRole, recomputing_on
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE, HOST_SOCKET, Accelerator, RangeEnd
from worker.scheduling.profiles.scorer_costs import num_scoring_cores, scoring_cores

_FP32_BYTES = 4
"""Bytes of a reduced gradient, of a moment, of a master weight."""
_HOST_STEP_BYTES = 28
"""Bytes per trained parameter that AdamW moves through host memory: it reads weight, gradient and two moments, and
writes all but the gradient, 4 bytes each."""
_BINDING_MOVES = 12
"""Bytes that a device moves through its memory to bind one byte that it has received: 2 to copy it into the live
weights, 10 for the checksum that is read back, whose sums, weights and products are tensors of their own
(`worker.engine.sync.checksums.fingerprint`). On a core it agrees with what was measured: 523 MB were bound 0.9 s after
the broadcast, where 12 bytes at 10 GB/s make 0.6 s (`python -m tests.bench.publishing`, 24 November 2026)."""
_LANES_PER_HOST = 4
"""Accelerators that share the memory of one CPU socket: a DGX or HGX server has 8 for 2 sockets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneCosts:
    """What work costs one lane in either role, in seconds. The `shared_…` parts are divided by the number of ranks."""

    generate: Cost
    """Generation of a fragment. Unit: a trajectory."""
    accumulate: Cost
    """Forward and backward as a rank that does not wait for others. Unit: a micro-batch."""
    commit: float
    """An optimizer step, without the part that ranks share."""
    shared_commit: float = 0.0
    """The optimizer's own work, where its state is sharded over the ranks."""
    snapshot: float = 0.0
    """The copy of the weights to be published, without the part that ranks share."""
    shared_snapshot: float = 0.0
    """The copy of the weights to be published, where each rank copies its part."""
    publish: float
    """The publish of a snapshot, without the part that ranks share."""
    shared_publish: float = 0.0
    """The publish of a snapshot, where each rank publishes its part."""
    pull: float
    """The loading of a published version by a rollout lane."""
    lent_pull: float = 0.0
    """What the loading takes longer on a trainer lane that generates, which no broadcast is for."""
    lend: float
    """The switch from training to generation, without the part that ranks share."""
    reclaim: float
    """The switch back to training, without the part that ranks share."""
    shared_switch: float = 0.0
    """State that is moved out of the device's memory or back in either switch, where it is sharded."""

    def commit_by(self, num_ranks: int) -> float:
        """Seconds of a commit in a gang of `num_ranks`."""
        return self.commit + self.shared_commit / num_ranks

    def snapshot_by(self, num_ranks: int) -> float:
        """Seconds of a snapshot in a gang of `num_ranks`."""
        return self.snapshot + self.shared_snapshot / num_ranks

    def publish_by(self, num_ranks: int) -> float:
        """Seconds of a publish by a gang of `num_ranks`."""
        return self.publish + self.shared_publish / num_ranks


SHARED_FIELD: Mapping[CostKind, str] = {
    CostKind.COMMIT: "shared_commit",
    CostKind.SNAPSHOT: "shared_snapshot",
    CostKind.PUBLISH: "shared_publish",
    CostKind.LEND: "shared_switch",
    CostKind.RECLAIM: "shared_switch",
}
"""By kind, which is also a field of `LaneCosts`: the field of `LaneCosts` with the part that ranks share."""


def lane_costs(work: Workload, device: Accelerator) -> LaneCosts:
    """The expected costs of one lane with this device. Where its memory decides how many layers are recomputed, the
    number is that of a gang of the size that the spec asks for."""
    role = MemoryRole.BOTH if work.trainers_generate else MemoryRole.TRAINER
    work = recomputing_on(work, device, role, num_ranks=work.num_trainer_lanes)
    launching = work.profile.num_layers * device.layer_overhead_seconds.value
    generating = device.peak_flops * device.generation_efficiency.value
    training = device.peak_flops * device.training_efficiency.value
    call, switch = device.call_seconds.value, device.switch_seconds.value
    reduction, reduction_once = _reduction(work, device)
    num_calls = work.num_training_calls
    num_gpus, per_call = work.num_computing_gpus(device), work.num_units_per_micro_batch / num_calls
    computing = per_call * (work.transformer_flops / num_gpus + work.decoded_flops) / training
    exchanging = per_call * bytes_of_unit(work, num_gpus) / device.link_bandwidth
    micro_batch = num_calls * (launching + _gathering(work, device) + computing + exchanging)
    # Sharded state is divided over all GPUs of the gang.
    optimizer = _optimizer(work, device) / (num_gpus if work.zero_stage else 1)
    copying = 2 * work.published_bytes / device.memory_bandwidth
    packing = work.published_bytes / work.weight_transfer.packing_bandwidth.value
    swapping = 0.0
    if not work.weight_transfer.shares_base:
        swapping = (work.weights_bytes + work.state_bytes) / device.host_bandwidth
    pull = call + work.published_bytes / device.network_bandwidth + packing
    broadcast = work.trained_bytes / device.network_bandwidth
    binding = call + _BINDING_MOVES * work.trained_bytes / device.memory_bandwidth
    gathering_base, offloading = _gathering_base(work, device), _idle_state_bytes(work) / device.host_bandwidth
    offloading /= num_gpus if work.zero_stage else 1
    own_offloading = 0.0 if work.zero_stage else offloading
    return LaneCosts(
        generate=Cost(
            call + work.num_sampling_calls * launching, _trajectory(work, device, generating) + _scoring(work, device)
        ),
        accumulate=Cost(call, micro_batch + reduction),
        commit=call + (0.0 if work.zero_stage else optimizer) + reduction_once,
        shared_commit=optimizer if work.zero_stage else 0.0,
        # An adapter is published by the first rank alone; of all weights each rank publishes its part.
        snapshot=call + (0.0 if work.is_full else copying),
        shared_snapshot=copying if work.is_full else 0.0,
        # A lane takes in what all ranks broadcast, one shard after the other, so that more ranks are no faster.
        publish=call + (broadcast if work.broadcasts else 0.0 if work.is_full else packing),
        shared_publish=packing if work.is_full and not work.broadcasts else 0.0,
        pull=binding if work.broadcasts else pull,
        lent_pull=pull - binding if work.broadcasts else 0.0,
        lend=switch + swapping + gathering_base + own_offloading,
        reclaim=switch + swapping + own_offloading,
        shared_switch=offloading - own_offloading,
    )


def _trajectory(work: Workload, device: Accelerator, flops: float) -> float:
    """Seconds of generating one trajectory at `flops` per second and GPU: the lane's GPUs share the transformer's
    operations and exchange what attention needs, which does not overlap with computing; the first one decodes."""
    num_gpus = work.num_computing_gpus(device)
    exchanging = bytes_of_trajectory(work, num_gpus) / device.link_bandwidth
    return (work.denoising_flops / num_gpus + work.decoding_flops) / flops + exchanging


def _scoring(work: Workload, device: Accelerator) -> float:
    """Seconds that a trajectory's scoring takes from the lanes whose cards reward lanes share.

    Two processes on one card take turns, so that their work adds up; whether they overlap better than that is not
    known. All lanes that generate are charged alike, though a reward lane shares the card of one: of two lanes that
    generate and one that scores, the one beside it is slower than planned and the other faster, and it is their sum
    that decides, since fragments go to whichever is free.
    """
    return work.scoring.network_seconds(device) if work.shares_cards else 0.0


def _reduction(work: Workload, device: Accelerator) -> tuple[float, float]:
    """Seconds of reducing gradients in each micro-batch, and in each optimizer step, for any number of ranks.

    A ring all-reduce sends and receives the buffer about twice, half of it (a reduce-scatter, an all-gather) once.
    Stages 0 and 1 all-reduce once a step, stage 2 in every micro-batch (DeepSpeed's default for its buckets), stage 3
    reduce-scatters there. Stages 1 and 2 gather the new weights after the step.
    """
    buffer = work.trained_parameters * _FP32_BYTES / device.network_bandwidth
    weights = work.trained_bytes / device.network_bandwidth
    in_each = {2: 2 * buffer, 3: buffer}.get(work.zero_stage, 0.0)
    once = {0: 2 * buffer, 1: 2 * buffer + weights, 2: weights}.get(work.zero_stage, 0.0)
    return in_each, once


def _gathering(work: Workload, device: Accelerator) -> float:
    """Seconds in which ZeRO 3 gathers the weights for one pass. They do not overlap with computing: the named
    configurations leave `overlap_comm` off, and DeepSpeed then gathers on the stream that computes."""
    if work.zero_stage < 3:
        return 0.0
    bandwidth = device.host_bandwidth if work.memory_savings.weights_on_host else device.network_bandwidth
    return work.weights_bytes / work.profile.num_experts / bandwidth


def _optimizer(work: Workload, device: Accelerator) -> float:
    """Seconds of one optimizer step over all trained parameters, without the reduction."""
    if not work.memory_savings.optimizer_on_host:
        return work.state_bytes / device.memory_bandwidth
    moved = work.trained_parameters * _FP32_BYTES + work.trained_bytes
    stepped = work.trained_parameters * _HOST_STEP_BYTES
    return moved / device.host_bandwidth + stepped * _LANES_PER_HOST / HOST_SOCKET.memory_bandwidth


def _gathering_base(work: Workload, device: Accelerator) -> float:
    """Seconds in which a lane that is lent gathers the frozen weights that ZeRO 3 has sharded. Trained weights are
    pulled."""
    if work.zero_stage < 3 or work.is_full:
        return 0.0
    return work.weights_bytes / device.network_bandwidth


def _idle_state_bytes(work: Workload) -> float:
    """Bytes that all ranks together offload to the host before their lanes generate: gradients, moments, master
    weights, and frozen weights where they are sharded."""
    if not work.memory_savings.idle_on_host:
        return 0.0
    return work.state_bytes + (work.weights_bytes if work.zero_stage == 3 and not work.is_full else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCosts:
    """The costs of a pool of lanes."""

    lanes: tuple[LaneCosts, ...]
    """Of each lane that may generate or train, in the pool's order."""
    score: Cost
    """Scoring of a fragment on one reward lane. Unit: a sample."""
    num_reward: int
    """The number of reward lanes."""
    equal_counts: bool = False
    """Ranks take equally many micro-batches in step (ZeRO 2 and 3)."""

    def expected(self, work: Workload) -> "PoolCosts":
        """The costs of a batch's nominal work as it is expected to be done: a fragment is generated and scored once
        more for each further draw of its group, and a micro-batch is trained only if its group is."""
        if not work.share_without_spread:
            return self
        algebra, share = work.algebra, work.share_without_spread
        num_draws = 1 + further_draws(share, algebra.max_resamples)
        trained = trained_share(algebra, share, algebra.max_resamples)
        lanes = tuple(
            replace(lane, generate=lane.generate.scaled(num_draws), accumulate=lane.accumulate.scaled(trained))
            for lane in self.lanes
        )
        return replace(self, lanes=lanes, score=self.score.scaled(num_draws))

    def cost_table(self, trainers: Collection[int]) -> dict[tuple[str, CostKind], Cost]:
        """The costs by lane and kind, where the lanes with these indices train and the others generate. Lanes are named
        by `lane_name` and `reward_lane_name`.

        Ranks commit and take snapshots together, so the slowest sets the pace there, and in every micro-batch where
        they must take equally many.
        """
        gang, num_ranks, are_trainers = [self.lanes[index] for index in trainers], len(trainers), set(trainers)
        table = {
            (GANG, CostKind.COMMIT): Cost(max(lane.commit_by(num_ranks) for lane in gang)),
            (GANG, CostKind.SNAPSHOT): Cost(max(lane.snapshot_by(num_ranks) for lane in gang)),
            (GANG, CostKind.PUBLISH): Cost(max(lane.publish_by(num_ranks) for lane in gang)),
        }
        if self.equal_counts:
            table[GANG, CostKind.ACCUMULATE] = Cost(
                max(lane.accumulate.per_call for lane in gang), max(lane.accumulate.per_unit for lane in gang)
            )
        for index, lane in enumerate(self.lanes):
            name = lane_name(index)
            table[name, CostKind.GENERATE] = lane.generate
            table[name, CostKind.PULL] = Cost(lane.pull + (lane.lent_pull if index in are_trainers else 0.0))
            if index in are_trainers:
                if not self.equal_counts:
                    table[name, CostKind.ACCUMULATE] = lane.accumulate
                shared_switch = lane.shared_switch / num_ranks
                table[name, CostKind.LEND] = Cost(lane.lend + shared_switch)
                table[name, CostKind.RECLAIM] = Cost(lane.reclaim + shared_switch)
        for index in range(self.num_reward):
            table[reward_lane_name(index), CostKind.SCORE] = self.score
        return table


def lane_name(index: int) -> str:
    """The name, in a plan, of the pool's lane with this index; it is independent of the lane's role."""
    return f"lane-{index}"


def reward_lane_name(index: int) -> str:
    """The name, in a plan, of the reward lane with this index."""
    return f"reward-{index}"


def pool_costs(
    work: Workload,
    devices: Sequence[Accelerator],
    *,
    num_reward: int,
    scorer: Accelerator | None = None,
    fixed_share: RangeEnd | None = None,
) -> PoolCosts:
    """The expected costs of a pool with these devices.

    Args:
        scorer: the device of each reward lane; by default the pool's last device where the workload says so, else a
            core, or those that a lane takes on a node of accelerators.
        fixed_share: assume the smallest or the largest share of each call's seconds that does not depend on the call's
            size, within the ranges of the devices' estimates.
    """
    if scorer is None:
        scorer = _scorer(work, devices, num_reward)
    if fixed_share is not None:
        at_end = {device: device.with_fixed_share_at(fixed_share) for device in {*devices, scorer}}
        devices, scorer = [at_end[device] for device in devices], at_end[scorer]
    by_device = {device: lane_costs(work, device) for device in set(devices)}
    seconds = work.scoring.network_seconds(scorer) + work.scoring.core_seconds
    return PoolCosts(
        lanes=tuple(by_device[device] for device in devices),
        score=Cost(scorer.call_seconds.value, seconds),
        num_reward=num_reward,
        equal_counts=work.equal_counts,
    )


def _scorer(work: Workload, devices: Sequence[Accelerator], num_reward: int) -> Accelerator:
    """The device of each reward lane: the pool's last, its own or shared, or cores."""
    if devices[-1].name == CPU_CORE.name:
        return scoring_cores(CPU_CORE, 1)
    if work.rewards_on is RewardDevice.OWN_GPU or work.shares_cards:
        return devices[-1]
    num_cards = sum(device.num_gpus for device in devices)
    return scoring_cores(CPU_CORE, num_scoring_cores(num_cards, num_reward))
