"""One card of a lane of several: `python -m tests.bench.gpu.spread_ranks RANK SIZE PORT`, from the stage `spread`.

Every rank makes the same weights on its device. Rank 0 trains and predicts alone. Then all train together, as a trainer
lane does, and predict together, as a rollout lane does: rank 0 leads, the others follow. It reports a row for each
model.
"""

import gc
import statistics
import sys
import tempfile
from pathlib import Path

import torch

from tests.bench.engine_pairs import Work, in_turns, on_cpu
from tests.bench.gpu.bench_models import LoadedModel, Prediction, made_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.bench_shapes import BenchModel, Shapes, shapes_for
from tests.bench.gpu.rank_reports import reporter
from tests.bench.gpu.rates import compared, planned_device
from tests.bench.gpu.spread_training import INPUT_SEED, TrainingPass, can_be_trained, trained_together
from worker.contracts.context_parallel import training_kernels
from worker.contracts.performance import SPREADABLE_FAMILIES
from worker.contracts.run_spec import RunSpec
from worker.engine.context_parallel.calls import SpreadCalls, follow_calls
from worker.engine.context_parallel.lane_group import join_group
from worker.engine.context_parallel.spreading import lane_mesh, spread
from worker.engine.devices.selection import resolve_device
from worker.engine.models.base import ModelAdapter
from worker.scheduling.planning.exchanged_bytes import bytes_of_trajectory
from worker.scheduling.profiles.hardware import Accelerator


def spread_models(shapes: Shapes) -> list[BenchModel]:
    """A model of pictures, and those of the further ones whose predictions can be spread."""
    return [shapes.gang, *(model for model in shapes.others if model.family in SPREADABLE_FAMILIES)]


def main(rank: int, size: int, port: int) -> None:
    report = reporter()
    gc.freeze()
    device = resolve_device(None)
    shapes = shapes_for(device)
    with tempfile.TemporaryDirectory() as folder:
        models = spread_models(shapes)
        # Before the group is joined, in which only rank 0 writes what `made_model` saves.
        loaded = [made_model(model, Path(folder), device=device, lora_rank=shapes.lora_rank) for model in models]
        join_group(rank, size, port)
        for each in loaded:
            if rank == 0:
                report(_led(each, shapes, size))
            else:
                _followed(each, shapes, size)
    torch.distributed.destroy_process_group()


def spread_spec(loaded: LoadedModel) -> RunSpec:
    """The run whose predictions are spread, one sample at a time; uncompiled."""
    return loaded.spec(loaded.model.sizes[0], members=1)


def _led(loaded: LoadedModel, shapes: Shapes, size: int) -> Row:
    spec, sample_size = spread_spec(loaded), loaded.model.sizes[0]
    adapter = _adapter(loaded, spec, size)
    prediction = Prediction.of(adapter, spec, sample_size, 1)

    def predict() -> torch.Tensor:
        with torch.inference_mode():
            return prediction.predict(adapter)

    training = _training(adapter, spec, loaded)
    trained_alone = training.seconds(shapes.repeats), training.gradient()
    alone, alone_seconds = predict(), _seconds(predict, shapes.repeats)
    spread(adapter.transformer, lane_mesh(adapter.device, size))
    trained = trained_together(training, trained_alone, size, shapes.repeats) if can_be_trained(spec, size) else {}
    calls = SpreadCalls(adapter.transformer, size)
    calls.begin()
    together, seconds = predict(), _seconds(predict, shapes.repeats)
    calls.end()
    return {
        "cards": size,
        "alone_seconds": alone_seconds,
        "seconds": seconds,
        "speed_up": alone_seconds / seconds,
        "share_of_ideal": alone_seconds / seconds / size,
        # Of parts of the tokens, products round differently.
        "largest_difference": float((together - alone).abs().max() / alone.std()),
        **trained,
        "compared": _compared(loaded, spec, size, seconds),
    }


def _followed(loaded: LoadedModel, shapes: Shapes, size: int) -> None:
    spec = spread_spec(loaded)
    adapter = _adapter(loaded, spec, size)
    training = _training(adapter, spec, loaded)
    spread(adapter.transformer, lane_mesh(adapter.device, size))
    if can_be_trained(spec, size):
        trained_together(training, None, size, shapes.repeats)
    follow_calls(adapter.transformer, adapter.device)


def _training(adapter: ModelAdapter, spec: RunSpec, loaded: LoadedModel) -> TrainingPass:
    torch.manual_seed(INPUT_SEED)
    return TrainingPass(adapter, Prediction.of(adapter, spec, loaded.model.sizes[0], 1))


def _adapter(loaded: LoadedModel, spec: RunSpec, size: int) -> ModelAdapter:
    """With the kernels of a trainer lane, also for predictions: the fastest attention, or for Qwen-Image, whose prompts
    are padded to train, PyTorch's choice."""
    return loaded.adapter(spec, training_kernels(spec, size), is_trained=True)


def _seconds(predict: Work, repeats: int) -> float:
    return statistics.median(in_turns(repeats, predict)[0].wall)


def _compared(loaded: LoadedModel, spec: RunSpec, size: int, seconds: float) -> list[Row]:
    device = planned_device()
    if device is None or on_cpu():
        return []
    case = f"{loaded.model.name}: forward {loaded.model.sizes[0]} × 1 on {size} cards"
    return compared(case, planned_seconds(loaded, spec, device, size), seconds, "s")


def planned_seconds(loaded: LoadedModel, spec: RunSpec, device: Accelerator, size: int) -> float:
    """What the planner expects of one prediction on `size` cards: every card launches all layers, and has its part of
    the arithmetic and of the exchange."""
    work, profile = loaded.workload(spec), loaded.profile
    arithmetic = profile.forward_flops(work.num_tokens) / (device.peak_flops * device.generation_efficiency.value)
    exchange = bytes_of_trajectory(work, size) / work.num_denoising_steps / device.link_bandwidth
    return profile.num_layers * device.layer_overhead_seconds.value + arithmetic / size + exchange


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
