"""Decoding of pictures and clips by each model's autoencoder, as rollout lanes do it."""

from functools import partial

import torch

from tests.bench.gpu.bench_models import LoadedModel, loaded_model, main_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.bench_shapes import SampleSize
from tests.bench.gpu.rates import compared, planned_device, timed, with_rate
from tests.bench.gpu.stage_runner import GpuBench
from worker.scheduling.planning.memory import decoding_bytes
from worker.scheduling.profiles.hardware import CPU_CORE

GIB = 2**30


def run(bench: GpuBench) -> None:
    main = main_model(bench)
    for size in main.model.sizes:
        for batch in bench.shapes.batches:
            bench.measure(f"{main.model.name} {size} × {batch}", partial(_row, bench, main, size, batch))
    for model in bench.shapes.others:
        if bench.seconds_left <= 0:
            bench.skip(model.name, "no time is left in the stage's budget")
            continue
        bench.measure(
            f"{model.name} {model.sizes[0]} × 1", partial(_row, bench, loaded_model(bench, model), model.sizes[0], 1)
        )


def _row(bench: GpuBench, loaded: LoadedModel, size: SampleSize, batch: int) -> Row:
    spec = loaded.spec(size, members=batch)
    adapter = loaded.adapter(spec, is_trained=False)
    latents = torch.randn(batch, *adapter.latent_shape(**size.as_arguments), device=bench.device)
    # Decoded pictures are copied to the host, as they are for reward lanes.
    values = timed(bench, lambda: adapter.decode(latents, **size.as_arguments))
    flops = batch * loaded.profile.decoding_flops(**size.as_arguments)
    row: Row = with_rate(bench, values, flops)
    case, device = f"{loaded.model.name}: decoding {size} × {batch}", planned_device() or CPU_CORE
    counted = batch * loaded.workload(spec).decoding_flops
    planned = counted / (device.peak_flops * device.generation_efficiency.value)
    weights = sum(parameter.nbytes for parameter in loaded.resident.modules["vae"].parameters())
    # The planner's fragment holds two samples at least.
    held = weights + row["added_bytes"] if batch > 1 and "added_bytes" in row else None
    row["compared"] = [
        *compared(case, planned if planned_device() else None, row["seconds"], "s"),
        *compared(f"{case}, memory", decoding_bytes(loaded.workload(spec)) / GIB, held and held / GIB, "GiB"),
    ]
    return row
