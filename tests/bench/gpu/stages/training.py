"""Optimizer steps of the main model: with other recomputation and kernels, as shipped, against a plain loop; and what
they hold in memory against the memory plan, part by part.

What compiles comes last, as in the stage `forward`. A step is one micro-batch, forward, backward and AdamW on a LoRA,
of trajectories that the engine's sampler drew.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.bench.engine_cases import Case
from tests.bench.engine_loops import Trainings
from tests.bench.engine_mfu import training_flops, utilisation
from tests.bench.gpu.bench_models import LoadedModel, drawn_groups, main_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.bench_shapes import SampleSize
from tests.bench.gpu.forward_passes import PLAIN, SHIPPED, UNCOMPILED, needed_seconds, unavailable
from tests.bench.gpu.kernel_kinds import seconds_by_kind
from tests.bench.gpu.rates import compared, peak_flops, planned_device, timed, with_rate
from tests.bench.gpu.resident_models import resident
from tests.bench.gpu.stage_runner import GpuBench
from tests.bench.roofline.expected_mfu import expected_mfu
from tests.engine.trainer.state_bytes import state_bytes
from worker.contracts.run_spec import RunSpec
from worker.engine.devices.fastest_attention import fastest_attention
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch
from worker.scheduling.planning.cost_estimates import lane_costs
from worker.scheduling.planning.memory import LaneMemory, MemoryRole, lane_memory
from worker.scheduling.profiles.hardware import CPU_CORE

GIB = 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One way to take the same optimizer step."""

    name: str
    size: SampleSize
    batch: int
    """Pairs of the micro-batch."""
    sections: dict[str, Any] = field(default_factory=dict)
    """Of the spec, beside those of every case."""
    is_plain: bool = False
    model_name: str = ""
    """Named where it is not the main model."""

    @property
    def case(self) -> str:
        return f"{self.model_name} {self.size} × {self.batch}, {self.name}".strip()


def steps(bench: GpuBench, loaded: LoadedModel) -> Iterator[Step]:
    """All variants, the most telling first of those that compile nothing, then those that do. They are compared at half
    of the batch, at which blocks that keep all activations still fit beside the weights."""
    small, large = loaded.model.sizes[0], loaded.model.sizes[-1]
    batch = bench.shapes.batches[-1]
    half = max(2, batch // 2)
    for pairs in dict.fromkeys((batch, half)):
        yield Step(name=UNCOMPILED, size=small, batch=pairs)
    yield Step(name="recomputing everything", size=small, batch=half, sections=_recomputed(1))
    yield Step(name="recomputing nothing", size=small, batch=half, sections=_recomputed(0))
    if large != small:
        yield Step(name=UNCOMPILED, size=large, batch=half)
    yield Step(name=f"{PLAIN}, recomputing nothing", size=small, batch=half, sections=_recomputed(0), is_plain=True)
    yield Step(name="recomputing 1 block in 2", size=small, batch=half, sections=_recomputed(2))
    for attention in bench.shapes.attention:
        # The fastest one is what the spec takes where it leaves the choice open.
        if attention is not fastest_attention(bench.device):
            chosen = {"compilation": "off", "attention": str(attention)}
            yield Step(name=f"{attention}", size=small, batch=half, sections={"performance": chosen})
    yield Step(name=SHIPPED, size=small, batch=batch, sections=AS_SHIPPED)
    compiled = {"compilation": str(bench.shapes.compilation), "attention": "default"}
    yield Step(name=f"{bench.shapes.compilation}", size=small, batch=half, sections={"performance": compiled})


def _recomputed(every: int) -> dict[str, Any]:
    return {"deepspeed": {"gradient_checkpointing": every}}


RECOMPUTES_NOTHING = _recomputed(0)
AS_SHIPPED: dict[str, Any] = {"performance": {}}
"""What a spec leaves open by default is what is shipped."""


def run(bench: GpuBench) -> None:
    loaded = main_model(bench)
    for step in steps(bench, loaded):
        seconds = needed_seconds(loaded.spec(step.size, members=step.batch, **step.sections).performance)
        measure_step(bench, loaded, step, needs_seconds=seconds)


def measure_step(bench: GpuBench, loaded: LoadedModel, step: Step, *, needs_seconds: float = 0.0) -> None:
    """Measure `step`, unless this machine cannot take it."""
    spec = loaded.spec(step.size, members=step.batch, **step.sections)
    chosen = spec.performance
    if why := unavailable(chosen):
        bench.skip(step.case, why)
        return
    bench.measure(
        step.case,
        partial(_row, bench, loaded, step, spec),
        needs_bytes=free_bytes_needed(loaded, spec),
        needs_seconds=needs_seconds,
    )


def free_bytes_needed(loaded: LoadedModel, spec: RunSpec) -> float:
    """What a trainer lane must find free, by the memory plan. The weights are on the device already. The reserve is not
    asked for: this process has its context, and a group of one has no buffers for collectives."""
    plan = memory_plan(loaded, spec)
    return plan.total - plan.weights - plan.reserve


def memory_plan(loaded: LoadedModel, spec: RunSpec) -> LaneMemory:
    """What the planner expects a trainer lane to hold; on a card without a profile only its reserve is unknown."""
    return lane_memory(loaded.workload(spec), planned_device() or CPU_CORE, MemoryRole.TRAINER)


def _row(bench: GpuBench, loaded: LoadedModel, step: Step, spec: RunSpec) -> Row:
    """Seconds, rates and memory of one way to take a step, with what the planner expects."""
    version, groups = drawn_groups(bench, loaded, spec)
    flops = training_flops(loaded.profile, spec)
    if step.is_plain:
        with resident(loaded.resident):
            case = Case(name=step.name, spec=spec, build=lambda: None)
            plain = Trainings(case, loaded.resident.path, groups).plain
            return with_rate(bench, timed(bench, plain), flops)
    with resident(loaded.resident):
        trainer = TrainerRank(spec, loaded.resident.path, 0, 1)
    trainer.load_version(version)
    num_pairs = spec.algebra.num_pairs_per_optimizer_step

    def optimizer_step() -> None:
        trainer.accumulate(groups, num_pairs_total=num_pairs, fresh=False)
        trainer.commit()

    row: Row = with_rate(bench, timed(bench, optimizer_step), flops)
    row |= _efficiency(bench, loaded, spec, row["seconds"]) | _held(trainer, groups, num_pairs)
    row |= _activations(loaded, spec, row) | {"recomputed_blocks": loaded.num_recomputed_blocks(spec)}
    row["compared"] = [*_planned_seconds(loaded, step, spec, row), *_planned_parts(loaded, step, spec, row)]
    if step.name == SHIPPED and loaded is main_model(bench) and step.size == loaded.model.sizes[0]:
        kinds = seconds_by_kind(optimizer_step)
        row |= {f"kind_{name}": value for name, value in kinds.items() if name != "seconds"}
    return row


def _held(trainer: TrainerRank, groups: list[GroupBatch], num_pairs: int) -> Row:
    """What the rank holds with gradients open, storage by storage."""
    trainer.accumulate(groups, num_pairs_total=num_pairs, fresh=False)
    held = state_bytes(trainer)
    trainer.abort()
    return {f"{part}_bytes": num_bytes for part, num_bytes in held.items()}


def _efficiency(bench: GpuBench, loaded: LoadedModel, spec: RunSpec, seconds: float) -> Row:
    """The share of the peak at which all operations are done, recomputed ones too: `training_efficiency`."""
    peak = peak_flops(bench)
    if peak is None:
        return {}
    flops = spec.algebra.num_pairs_per_optimizer_step * loaded.workload(spec).unit_flops
    return {"efficiency": utilisation(flops, seconds, peak)}


def _activations(loaded: LoadedModel, spec: RunSpec, row: Row) -> Row:
    """Of the peak of a step, beside what is held between steps, what is not open gradients; and as the planner counts
    it, for each token, unit of width and block, where blocks keep all of it."""
    if "added_bytes" not in row:
        return {}
    found = row["added_bytes"] - row["gradients_bytes"]
    work, profile = loaded.workload(spec), loaded.profile
    values = (work.num_tokens + profile.text_tokens) * profile.width * work.num_units_per_micro_batch
    of_blocks = (
        {} if work.num_recomputed_layers else {"bytes_of_a_value_and_block": found / values / profile.num_layers}
    )
    return {"activations_bytes": found, **of_blocks}


def _planned_seconds(loaded: LoadedModel, step: Step, spec: RunSpec, row: Row) -> list[Row]:
    device = planned_device()
    if device is None:
        return []
    costs = lane_costs(loaded.workload(spec), device)
    planned = costs.accumulate.per_call + costs.accumulate.per_unit + costs.commit_by(1)
    return [
        *compared(f"optimizer step {step.case}", planned, row["seconds"], "s"),
        *_against_arithmetic(loaded, step, row),
    ]


def _against_arithmetic(loaded: LoadedModel, step: Step, row: Row) -> list[Row]:
    if step.name not in (SHIPPED, UNCOMPILED):
        return []
    side, is_compiled = step.size.height, step.name == SHIPPED
    expected = expected_mfu(loaded.profile, planned_device(), "training", side, is_compiled=is_compiled)
    return compared(f"MFU of a step of {step.case}, by arithmetic", expected, row.get("mfu"), "")


def _planned_parts(loaded: LoadedModel, step: Step, spec: RunSpec, row: Row) -> list[Row]:
    plan = memory_plan(loaded, spec)
    measured: dict[str, tuple[float, float | None]] = {
        "weights and LoRA": (plan.weights + plan.adapter, row["weights_bytes"]),
        "gradients": (plan.gradients, row["gradients_bytes"]),
        "optimizer": (plan.optimizer, row["optimizer_bytes"]),
    }
    if "activations_bytes" in row:
        measured["activations"] = (plan.activations, row["activations_bytes"])
    if "reserve_bytes" in row and planned_device() is not None:
        measured["reserve"] = (plan.reserve, row["reserve_bytes"])
    return [
        line
        for part, (planned, found) in measured.items()
        for line in compared(f"{step.case}: {part}", planned / GIB, None if found is None else found / GIB, "GiB")
    ]
