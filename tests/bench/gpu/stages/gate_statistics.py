"""How far replay is from rollout in this precision: what the bounds of the replay gate are set from.

A group is drawn by the sampler, several samples at once, and replayed by a trainer rank one pair after the other, in
the first update of its batch: with gradients, as training replays, on every stochastic step of the schedule and with
each SDE. The statistics are the gate's own: |μ_replay − μ_rollout| ÷ std of each element, its root mean square,
quantiles and maximum, and |ratio − 1|. `gate_bounds` turns them into bounds.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from tests.bench.gpu.bench_models import LoadedModel, drawn_groups, loaded_model, main_model, release_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.bench_shapes import SampleSize
from tests.bench.gpu.resident_models import resident
from tests.bench.gpu.stage_runner import GpuBench
from tests.bench.gpu.stages.training import free_bytes_needed
from worker.contracts.names import SdeType
from worker.contracts.run_spec import RunSpec
from worker.engine.metrics.error_histogram import quantile
from worker.engine.metrics.replay_gate import MEAN_ERROR, QUANTILE_ERROR, RATIO_DEVIATION, RMS_ERROR, gate_values
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard, UpdateStats

QUANTILES = (0.99, 0.9999)
"""Beside the one that is judged."""
MEMBERS = 2
"""Drawn at once, and replayed one by one: another size of batch is what makes kernels round differently."""
NUM_STEPS = 4
"""Denoising steps, of which all but the last are stochastic. Of `flow` and `dance` the error of a step, relative to its
noise, grows as the root of the step's length: presets, which take 6 and more, lie below."""
MAX_FRAMES = 9
"""Of a clip: its length hardly matters for rounding, but does for decoding, which drawing ends with."""


def run(bench: GpuBench) -> None:
    _family(bench, main_model(bench))
    for model in (*bench.shapes.others, *bench.shapes.only_gate):
        if bench.seconds_left <= 0:
            bench.skip(model.name, "no time is left in the stage's budget")
            continue
        _family(bench, loaded_model(bench, model))
        if model in bench.shapes.only_gate:
            release_model(bench, model)
    # Of the same size as drawn: what is left is the difference between sampling and training.
    measure_replay(bench, main_model(bench), SdeType.FLOW, at_once=MEMBERS)


def _family(bench: GpuBench, loaded: LoadedModel) -> None:
    for kernel in SdeType:
        measure_replay(bench, loaded, kernel, at_once=1)


def measure_replay(bench: GpuBench, loaded: LoadedModel, kernel: SdeType, *, at_once: int) -> None:
    """Measure the replay of a group in micro-batches of `at_once` pairs."""
    spec = gate_spec(loaded, kernel, at_once=at_once)
    case = f"{loaded.model.name} {gate_size(loaded)}, {kernel}, {at_once} at once"
    bench.measure(case, partial(_row, bench, loaded, spec), needs_bytes=free_bytes_needed(loaded, spec))


def gate_size(loaded: LoadedModel) -> SampleSize:
    """The first of the model's sizes, with fewer frames."""
    size = loaded.model.sizes[0]
    return replace(size, num_frames=min(size.num_frames, MAX_FRAMES))


def gate_spec(loaded: LoadedModel, kernel: SdeType, *, at_once: int, **sections: Any) -> RunSpec:
    """A run of which every step but the last is stochastic."""
    size = gate_size(loaded)
    steps = {"num_denoising_steps": NUM_STEPS, "num_eval_denoising_steps": NUM_STEPS}
    sampling = {**steps, "sde_type": kernel.value, **size.as_arguments}
    return loaded.spec(size, members=MEMBERS, micro_batch_size=at_once, sampling=sampling, **sections)


def _row(bench: GpuBench, loaded: LoadedModel, spec: RunSpec) -> Row:
    version, groups = drawn_groups(bench, loaded, spec)
    return gate_row(loaded, spec, replayed(loaded, spec, version, groups))


def replayed(loaded: LoadedModel, spec: RunSpec, version: PublishedShard, groups: Sequence[GroupBatch]) -> UpdateStats:
    """The statistics of the first update on `groups`, by a trainer rank that starts from `version`."""
    with resident(loaded.resident):
        trainer = TrainerRank(spec, loaded.resident.path, 0, 1)
    trainer.load_version(version)
    num_pairs = spec.algebra.num_pairs_per_optimizer_step
    stats = trainer.accumulate(groups, num_pairs_total=num_pairs, fresh=True)
    trainer.abort()
    return stats


def gate_row(loaded: LoadedModel, spec: RunSpec, stats: UpdateStats) -> Row:
    """The gate's statistics, beside the bounds that the spec has now."""
    values, counts = gate_values(stats), stats.histograms[MEAN_ERROR]
    bounds = spec.replay_bounds
    return {
        "family": loaded.model.family.value,
        "model": loaded.model.name,
        "layers": loaded.profile.num_layers,
        "kernel": spec.sampling.sde_type.value,
        "at_once": spec.batch.micro_batch_size,
        "elements": sum(counts),
        "rms": values[RMS_ERROR],
        "quantile": values[QUANTILE_ERROR],
        **{f"quantile_{share}": quantile(counts, share) for share in QUANTILES},
        "maximum": values[MEAN_ERROR],
        "ratio_deviation": values[RATIO_DEVIATION],
        "bound_of_maximum": bounds.mean_error,
        "bound_of_rms": bounds.rms_error,
        "bound_of_quantile": bounds.quantile_error,
        "bound_of_ratio": bounds.ratio_error,
    }
