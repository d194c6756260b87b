"""Decoding of pictures and clips by each model's autoencoder, as rollout lanes do it."""

from functools import partial
from typing import Any

import torch

from tests.bench.gpu.bench_models import LoadedModel, loaded_model, main_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.bench_shapes import SampleSize
from tests.bench.gpu.rates import compared, planned_device, timed, with_rate
from tests.bench.gpu.stage_runner import GpuBench
from worker.contracts.names import VaeTiling
from worker.scheduling.planning.decoder_memory import decoder_weights, decoding_bytes
from worker.scheduling.profiles.hardware import CPU_CORE

GIB = 2**30


def run(bench: GpuBench) -> None:
    main = main_model(bench)
    for size in main.model.sizes:
        for batch in bench.shapes.batches:
            _measure(bench, main, size, batch)
    for model in bench.shapes.others:
        if bench.seconds_left <= 0:
            bench.skip(model.name, "no time is left in the stage's budget")
            continue
        _measure(bench, loaded_model(bench, model), model.sizes[0], 1)


def _measure(bench: GpuBench, loaded: LoadedModel, size: SampleSize, batch: int) -> None:
    """Whole samples, and the same in tiles where they are larger than one."""
    name = f"{loaded.model.name} {size} × {batch}"
    bench.measure(name, partial(_row, bench, loaded, size, batch, VaeTiling.DISABLED))
    if max(size.height, size.width) > tile_side(loaded.resident.modules["vae"]):
        bench.measure(f"{name} in tiles", partial(_row, bench, loaded, size, batch, VaeTiling.ENABLED))


def tile_side(vae: Any) -> int:
    """Pixels of a tile's side: autoencoders of pictures take it from their configuration, others name it."""
    return int(getattr(vae, "tile_sample_min_size", None) or vae.tile_sample_min_height)


def _row(bench: GpuBench, loaded: LoadedModel, size: SampleSize, batch: int, tiling: VaeTiling) -> Row:
    spec = loaded.spec(size, members=batch)
    spec = spec.model_copy(update={"sampling": spec.sampling.model_copy(update={"vae_tiling": tiling})})
    adapter, work = loaded.adapter(spec, is_trained=False), loaded.workload(spec)
    latents = torch.randn(batch, *adapter.latent_shape(**size.as_arguments), device=bench.device)
    # Decoded pictures are copied to the host, as they are for reward lanes.
    values = timed(bench, lambda: adapter.decode(latents, **size.as_arguments))
    row: Row = with_rate(bench, values, batch * loaded.profile.decoding_flops(**size.as_arguments))
    in_tiles = " in tiles" if tiling is VaeTiling.ENABLED else ""
    case, device = f"{loaded.model.name}: decoding {size} × {batch}{in_tiles}", planned_device() or CPU_CORE
    planned = batch * work.decoding_flops / (device.peak_flops * device.generation_efficiency.value)
    planned_bytes = decoder_weights(work) + decoding_bytes(work)
    weights = sum(parameter.nbytes for parameter in loaded.resident.modules["vae"].parameters())
    # The planner's fragment holds two samples at least, and it decodes clips one by one.
    held = weights + row["added_bytes"] if batch > 1 and "added_bytes" in row else None
    row["compared"] = [
        *compared(case, planned if planned_device() else None, row["seconds"], "s"),
        *compared(f"{case}, memory", planned_bytes / GIB, held and held / GIB, "GiB"),
    ]
    return row
