"""What a trainer lane pays to turn to generation, to move idle state to the host, and to keep its optimizer there."""

import time
from functools import partial
from typing import Any

from deepspeed.accelerator import get_accelerator

from tests.bench.gpu.bench_models import LoadedModel, drawn_groups, main_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.rates import compared, planned_device, timed
from tests.bench.gpu.resident_models import resident
from tests.bench.gpu.stage_runner import GpuBench
from worker.contracts.deepspeed import ZeroConfig
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.state_offload import StateOffloader


def run(bench: GpuBench) -> None:
    loaded = main_model(bench)
    bench.measure("switch to generation and back", partial(_switch, bench, loaded))
    bench.measure("idle state to the host and back", partial(_idle_state, bench, loaded))
    for config in (ZeroConfig.ZERO1, ZeroConfig.ZERO1_CPUOFFLOAD):
        bench.measure(f"optimizer step, {config}", partial(_optimizer_step, bench, loaded, config))


def _switch(bench: GpuBench, loaded: LoadedModel) -> Row:
    """Nothing is offloaded: caches are freed, and the generation replica is made ready."""
    trainer = _trainer(bench, loaded, _spec(loaded, pipeline={"tag": "greedy"}))

    def switch() -> None:
        trainer.switch(LaneRole.ROLLOUT)
        trainer.switch(LaneRole.TRAINER)

    row: Row = dict(timed(bench, switch))
    device = planned_device()
    planned = None if device is None else 2 * device.switch_seconds.value
    row["compared"] = compared("switch to generation and back", planned, row["seconds"], "s")
    return row


def _idle_state(bench: GpuBench, loaded: LoadedModel) -> Row:
    """The first transfer pins its buffers, later ones use them again."""
    spec = _spec(loaded)
    trainer = _trainer(bench, loaded, spec)
    _, groups = drawn_groups(bench, loaded, spec)
    trainer.accumulate(groups, num_pairs_total=spec.algebra.num_pairs_per_optimizer_step, fresh=False)
    offloader = StateOffloader(trainer._deepspeed_engine, trainer._policy.module)
    row: Row = {}
    for turn in ("first", "later"):
        offloaded, reloaded = offloader.offload(), offloader.reload()
        row |= {
            "offloaded_bytes": offloaded.num_bytes,
            f"{turn}_offload_seconds": offloaded.seconds,
            f"{turn}_reload_seconds": reloaded.seconds,
        }
    trainer.abort()
    device = planned_device()
    planned = None if device is None else row["offloaded_bytes"] / device.host_bandwidth
    return row | {"compared": compared("offload of idle state", planned, row["later_offload_seconds"], "s")}


def _optimizer_step(bench: GpuBench, loaded: LoadedModel, config: ZeroConfig) -> Row:
    """AdamW alone, torch's fused one on the device or on the host's cores, without forward and backward."""
    spec = _spec(loaded, deepspeed={"config": config.value})
    trainer = _trainer(bench, loaded, spec)
    _, groups = drawn_groups(bench, loaded, spec)
    seconds = []
    for _ in range(1 + bench.shapes.repeats):
        trainer.accumulate(groups, num_pairs_total=spec.algebra.num_pairs_per_optimizer_step, fresh=False)
        get_accelerator().synchronize()
        began = time.perf_counter()
        trainer.commit()
        get_accelerator().synchronize()
        seconds.append(time.perf_counter() - began)
    return {"seconds": min(seconds[1:]), "first_call_seconds": seconds[0]}


def _spec(loaded: LoadedModel, **sections: Any) -> RunSpec:
    return loaded.spec(loaded.model.sizes[0], members=2, **sections)


def _trainer(bench: GpuBench, loaded: LoadedModel, spec: RunSpec) -> TrainerRank:
    """A rank that has taken a step, so that the optimizer has its moments."""
    version, groups = drawn_groups(bench, loaded, spec)
    with resident(loaded.resident):
        trainer = TrainerRank(spec, loaded.resident.path, 0, 1)
    trainer.load_version(version)
    trainer.accumulate(groups, num_pairs_total=spec.algebra.num_pairs_per_optimizer_step, fresh=False)
    trainer.commit()
    return trainer
