"""How far replay is from rollout in this precision: what the bounds of the replay gate are set from.

One group is drawn at once and replayed in micro-batches of other sizes, as in training: |μ_replay − μ_rollout| ÷ std of
each element, its root mean square, high quantiles and maximum, and |ratio − 1|.
"""

from functools import partial

import torch

from tests.bench.gpu.bench_models import LoadedModel, drawn_groups, loaded_model, main_model
from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.stage_runner import GpuBench
from worker.contracts.run_spec import RunSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.sync.binding import bind
from worker.engine.trainer.learners.transition_pairs import GroupPairs

QUANTILES = (0.99, 0.999, 0.9999)
MAX_QUANTILE_ELEMENTS = 2**24
"""The most elements that `torch.quantile` takes."""
MEMBERS = 4


def run(bench: GpuBench) -> None:
    _family(bench, main_model(bench))
    for model in bench.shapes.others:
        if bench.seconds_left <= 0:
            bench.skip(model.name, "no time is left in the stage's budget")
            continue
        _family(bench, loaded_model(bench, model))


def _family(bench: GpuBench, loaded: LoadedModel) -> None:
    size = loaded.model.sizes[0]
    spec = loaded.spec(size, members=MEMBERS)
    for at_once in (MEMBERS, 1):
        bench.measure(f"{loaded.model.name} {size}, {at_once} at once", partial(_row, bench, loaded, spec, at_once))


def _row(bench: GpuBench, loaded: LoadedModel, spec: RunSpec, at_once: int) -> Row:
    version, (group,) = drawn_groups(bench, loaded, spec)
    adapter = loaded.adapter(spec, is_trained=True)
    bind(adapter.trainable, version)
    errors, ratios = replayed(adapter, spec, GroupPairs.of(group), at_once)
    flat = errors.flatten()
    sampled = flat[torch.randperm(len(flat), device=flat.device)[:MAX_QUANTILE_ELEMENTS]]
    bounds = spec.replay_bounds
    return {
        "family": loaded.model.family.value,
        "elements": flat.numel(),
        "rms": float(flat.square().mean().sqrt()),
        **{f"quantile_{share}": float(sampled.quantile(share)) for share in QUANTILES},
        "maximum": float(flat.max()),
        "ratio_deviation": float((ratios - 1).abs().max()),
        "bound_of_maximum": bounds.mean_error,
        "bound_of_rms": bounds.rms_error,
        "bound_of_quantile": bounds.quantile_error,
        "bound_of_ratio": bounds.ratio_error,
    }


@torch.no_grad()
def replayed(
    adapter: ModelAdapter, spec: RunSpec, pairs: GroupPairs, at_once: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Errors of all elements and ratios of all pairs, replayed `at_once` pairs together with the engine's kernel."""
    kernel = pairs.kernel(spec.sampling, adapter.device)
    conditioning = adapter.conditioning(pairs.prompt, spec.sampling, training=True)
    errors, ratios = [], []
    for first in range(0, len(pairs.advantages) * len(pairs.steps), at_once):
        stored = pairs.stored(range(first, first + at_once), adapter.device)
        assert stored.means is not None, "kept in the first mini-batch of a batch"
        velocity = adapter.predict_velocity(stored.latents, kernel.sigmas[stored.indices], conditioning)
        step = kernel.step(velocity, stored.latents, stored.indices, next_sample=stored.next_latents)
        errors.append((step.mean - stored.means).abs() / step.std)
        ratios.append(torch.exp(step.log_prob - stored.old_log_probs))
    return torch.cat(errors), torch.cat(ratios)
