"""From operations and bytes to seconds: what each kind of work is expected to cost on each lane.

    Workload    ┐
    Accelerator ┴─► LaneCosts of each lane ─► PoolCosts ─► CostTable for a choice of trainer lanes
                                                 ▲
    what a run has measured (its CostTable) ─────┘ replaces the estimates

Seconds = operations ÷ (peak × efficiency) + what launching costs whatever the size + bytes ÷ bandwidth. Invariant: an
estimate depends on its arguments alone, and every assumption is a named constant or a field with a range.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from worker.scheduling.core.costs import GANG, Cost, CostKind
from worker.scheduling.planning.workload import Workload
from worker.scheduling.profiles.hardware import CPU_CORE, HOST_SOCKET, Accelerator, RangeEnd

_FP32_BYTES = 4
"""Of a gradient on its way, of a moment, of a master weight."""
_HOST_STEP_BYTES = 28
"""For each trained parameter, AdamW in host memory: weight, gradient and two moments read, all but the gradient
written."""
_LANES_PER_HOST = 4
"""Accelerators that share one CPU socket's memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneCosts:
    """Of one lane in either role; seconds. What trainer lanes share (`shared_…`) is divided by their number."""

    generate: Cost
    """Unit: a trajectory."""
    accumulate: Cost
    """As a rank that the others do not hold up. Unit: a micro-batch."""
    commit: float
    shared_commit: float = 0.0
    """The optimizer's own work, where its state is cut over the ranks."""
    snapshot: float = 0.0
    """The gang's own part of a publish: a copy beside what is trained."""
    shared_snapshot: float = 0.0
    publish: float
    shared_publish: float = 0.0
    pull: float
    lend: float
    reclaim: float
    shared_switch: float = 0.0
    """Of either turn: state moved out of the device's memory, or back."""

    def commit_by(self, num_ranks: int) -> float:
        return self.commit + self.shared_commit / num_ranks

    def snapshot_by(self, num_ranks: int) -> float:
        return self.snapshot + self.shared_snapshot / num_ranks

    def publish_by(self, num_ranks: int) -> float:
        return self.publish + self.shared_publish / num_ranks


def lane_costs(work: Workload, device: Accelerator) -> LaneCosts:
    """Expected costs of one lane.

    `lend` is the turn from training to generation, `reclaim` the way back.
    """
    launching = work.profile.num_layers * device.layer_overhead_seconds.value
    generating = device.peak_flops * device.generation_efficiency.value
    training = device.peak_flops * device.training_efficiency.value
    call, turn = device.call_seconds.value, device.switch_seconds.value
    reducing, reducing_once = _reduction(work, device)
    num_calls = work.num_training_calls
    computing = work.num_units_per_micro_batch * (work.unit_flops / num_calls) / training
    micro_batch = num_calls * (launching + _gathering(work, device) + computing)
    optimizer, copying = _optimizer(work, device), 2 * work.published_bytes / device.memory_bandwidth
    binding = work.published_bytes / work.weight_transfer.packing_bandwidth.value
    moving = 0.0
    if not work.weight_transfer.shares_base:
        moving = (work.weights_bytes + work.state_bytes) / device.host_bandwidth
    filling, idle = _filling(work, device), _idle_state_bytes(work) / device.host_bandwidth
    whole_idle = 0.0 if work.zero_stage else idle
    return LaneCosts(
        generate=Cost(call + work.num_sampling_calls * launching, work.trajectory_flops / generating),
        accumulate=Cost(call, micro_batch + reducing),
        commit=call + (0.0 if work.zero_stage else optimizer) + reducing_once,
        shared_commit=optimizer if work.zero_stage else 0.0,
        # Each rank publishes its share of all weights, and the first one an adapter.
        snapshot=call + (0.0 if work.is_full else copying),
        shared_snapshot=copying if work.is_full else 0.0,
        publish=call + (0.0 if work.is_full else binding),
        shared_publish=binding if work.is_full else 0.0,
        pull=call + work.published_bytes / device.network_bandwidth + binding,
        lend=turn + moving + filling + whole_idle,
        reclaim=turn + moving + whole_idle,
        shared_switch=idle - whole_idle,
    )


def _reduction(work: Workload, device: Accelerator) -> tuple[float, float]:
    """Seconds in each micro-batch and in each optimizer step, whatever the number of ranks.

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
    """Seconds of one pass's weights in ZeRO 3. Nothing hides them: the named configurations leave `overlap_comm` off,
    and DeepSpeed then gathers on the stream that computes."""
    if work.zero_stage < 3:
        return 0.0
    bandwidth = device.host_bandwidth if work.memory_savings.weights_on_host else device.network_bandwidth
    return work.weights_bytes / work.profile.num_experts / bandwidth


def _optimizer(work: Workload, device: Accelerator) -> float:
    """Seconds of one optimizer step over all that is trained."""
    if not work.memory_savings.optimizer_on_host:
        return work.state_bytes / device.memory_bandwidth
    moved = work.trained_parameters * _FP32_BYTES + work.trained_bytes
    stepped = work.trained_parameters * _HOST_STEP_BYTES
    return moved / device.host_bandwidth + stepped * _LANES_PER_HOST / HOST_SOCKET.memory_bandwidth


def _filling(work: Workload, device: Accelerator) -> float:
    """Seconds in which a lane that is lent gathers the frozen weights of ZeRO 3. Trained ones are pulled."""
    if work.zero_stage < 3 or work.is_full:
        return 0.0
    return work.weights_bytes / device.network_bandwidth


def _idle_state_bytes(work: Workload) -> float:
    """What goes to the host before a lane generates, of all ranks together: gradients, moments, master weights."""
    if not work.memory_savings.idle_on_host:
        return 0.0
    return work.state_bytes + (work.weights_bytes if work.zero_stage == 3 and not work.is_full else 0.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolCosts:
    """Of all lanes that may generate or train, in the pool's order, and of the reward lanes."""

    lanes: tuple[LaneCosts, ...]
    score: Cost
    """Unit: a sample, on one reward lane."""
    num_reward: int

    def table(self, trainers: Collection[int]) -> dict[tuple[str, CostKind], Cost]:
        """The costs where the lanes at these places train and the others generate; lanes are named by `lane_name`.

        Ranks go through equally many micro-batches in step, so the slowest sets the gang's pace.
        """
        gang, num_ranks = [self.lanes[place] for place in trainers], len(trainers)
        accumulate = Cost(
            max(lane.accumulate.per_call for lane in gang), max(lane.accumulate.per_unit for lane in gang)
        )
        table = {
            (GANG, CostKind.ACCUMULATE): accumulate,
            (GANG, CostKind.COMMIT): Cost(max(lane.commit_by(num_ranks) for lane in gang)),
            (GANG, CostKind.SNAPSHOT): Cost(max(lane.snapshot_by(num_ranks) for lane in gang)),
            (GANG, CostKind.PUBLISH): Cost(max(lane.publish_by(num_ranks) for lane in gang)),
        }
        for place, lane in enumerate(self.lanes):
            name = lane_name(place)
            table[name, CostKind.GENERATE] = lane.generate
            table[name, CostKind.PULL] = Cost(lane.pull)
            if place in trainers:
                turn = lane.shared_switch / num_ranks
                table[name, CostKind.LEND] = Cost(lane.lend + turn)
                table[name, CostKind.RECLAIM] = Cost(lane.reclaim + turn)
        for index in range(self.num_reward):
            table[f"reward-{index}", CostKind.SCORE] = self.score
        return table


def lane_name(place: int) -> str:
    """Of a lane of the pool whose role is not settled yet."""
    return f"lane-{place}"


def pool_costs(
    work: Workload,
    devices: Sequence[Accelerator],
    *,
    num_reward: int,
    scorer: Accelerator | None = None,
    fixed_share: RangeEnd | None = None,
) -> PoolCosts:
    """Expected costs.

    Args:
        scorer: what a reward lane has; by default a core, or a device like the pool's last where the work says so.
        fixed_share: reckon with as small or as large a part of each call's seconds, whatever its size, as the devices'
            ranges allow.
    """
    if scorer is None:
        scorer = devices[-1] if work.scores_on_devices else CPU_CORE
    if fixed_share is not None:
        at_edge = {device: device.with_fixed_share(fixed_share) for device in {*devices, scorer}}
        devices, scorer = [at_edge[device] for device in devices], at_edge[scorer]
    by_device = {device: lane_costs(work, device) for device in set(devices)}
    networks = work.scoring.flops / (scorer.fp32_flops * scorer.generation_efficiency.value)
    return PoolCosts(
        lanes=tuple(by_device[device] for device in devices),
        score=Cost(scorer.call_seconds.value, networks + work.scoring.core_seconds),
        num_reward=num_reward,
    )
