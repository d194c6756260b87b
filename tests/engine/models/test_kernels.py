"""The `performance` section on tiny checkpoints: kernels reach rollout and training, and both compute the same
policy."""

from contextlib import nullcontext

import pytest
import torch
from diffusers.models.attention_dispatch import AttentionBackendName
from torch._dynamo.utils import counters

from tests.engine.fixed_trajectories import draw_groups, perturbed_version
from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import load_family, noise_for, run_one_batch, run_spec_of, sampling_of
from tests.engine.sharing_embeddings import load_sampler, trainer_rank
from tests.slow_params import slow_but
from worker.contracts.deepspeed import DeepSpeedSpec
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import GuidanceKind, ModelFamily
from worker.contracts.performance import (
    NOT_ON_A_CPU,
    WITHOUT_ATTENTION_CHOICE,
    AttentionBackend,
    Compilation,
    PerformanceSpec,
    performance_problems,
)
from worker.contracts.prompts import Prompt
from worker.engine.errors import ModelLoadError
from worker.engine.models.base import ModelAdapter
from worker.engine.models.conditioning import Conditioning
from worker.engine.models.experts import experts_of
from worker.engine.models.kernels import MAX_GRAPHS, use_kernels

pytestmark = pytest.mark.usefixtures("restored_libraries")

COMPILED = PerformanceSpec(compilation=Compilation.AOT_EAGER)
CHOOSING = [family for family in FAMILY_TRAITS if family not in WITHOUT_ATTENTION_CHOICE]
QUICK = [family for family in CHOOSING if family not in (ModelFamily.FLUX2_KLEIN, ModelFamily.WAN22)]
"""Without those that have the blocks of another family."""


def velocity(model: ModelAdapter) -> torch.Tensor:
    sampling = sampling_of(model.family, num_frames=9 if FAMILY_TRAITS[model.family].makes_clips else 1)
    sigmas = torch.full((2,), 0.7)
    with torch.no_grad():
        return model.predict_velocity(
            noise_for(model, sampling), sigmas, model.conditioning(Prompt(text="a red square"), sampling)
        )


def test_diffusers_offers_each_backend() -> None:
    known = {backend.value for backend in AttentionBackendName}
    assert {backend.value for backend in AttentionBackend} - {"auto", "default"} <= known


@pytest.mark.parametrize("family", FAMILY_TRAITS)
def test_families_without_a_choice_are_those_of_diffusers(checkpoint_of: CheckpointOf, family: ModelFamily) -> None:
    experts = experts_of(load_family(family, checkpoint_of(family)).transformer).values()
    processors = [module.processor for expert in experts for module in expert.modules() if hasattr(module, "processor")]
    offers = any(hasattr(processor, "_attention_backend") for processor in processors)
    assert offers == (family not in WITHOUT_ATTENTION_CHOICE)


@pytest.mark.parametrize("family", FAMILY_TRAITS)
def test_every_familys_blocks_are_compiled(checkpoint_of: CheckpointOf, family: ModelFamily) -> None:
    model = load_family(family, checkpoint_of(family), performance=COMPILED)
    for expert in experts_of(model.transformer).values():
        compiled = [module for module in expert.modules() if module._compiled_call_impl is not None]
        assert len(compiled) >= 2, "the tiny models have two blocks at least"


@pytest.mark.parametrize("family", slow_but(QUICK, CHOOSING))
def test_an_attention_backend_reaches_every_block_and_predicts_the_same(
    checkpoint_of: CheckpointOf, family: ModelFamily
) -> None:
    plain = load_family(family, checkpoint_of(family))
    chosen = load_family(family, checkpoint_of(family), performance=PerformanceSpec(attention=AttentionBackend.MATH))
    backends = {
        getattr(module.processor, "_attention_backend", None)
        for module in chosen.transformer.modules()
        if hasattr(module, "processor")
    }
    # HunyuanVideo's prompt refiner has attention layers of another class, for which no backend can be chosen.
    assert backends >= {AttentionBackendName._NATIVE_MATH}
    assert backends <= {AttentionBackendName._NATIVE_MATH, None}
    torch.testing.assert_close(velocity(chosen), velocity(plain), rtol=1e-4, atol=1e-4)


def test_a_backend_that_is_not_installed_is_refused(checkpoint_of: CheckpointOf) -> None:
    transformer = load_family(ModelFamily.FLUX, checkpoint_of(ModelFamily.FLUX)).transformer
    with pytest.raises(ModelLoadError, match=r"installed on every lane, got flash: .*flash-attn"):
        use_kernels(transformer, PerformanceSpec(attention=AttentionBackend.FLASH), torch.device("cuda"))


@pytest.mark.parametrize("backend", slow_but([AttentionBackend.CUDNN, AttentionBackend.FLASH], NOT_ON_A_CPU))
def test_an_accelerators_backend_is_left_off_on_a_cpu(checkpoint_of: CheckpointOf, backend: AttentionBackend) -> None:
    wanted = PerformanceSpec(attention=backend)
    chosen = load_family(ModelFamily.WAN, checkpoint_of(ModelFamily.WAN), device="cpu", performance=wanted)
    assert torch.equal(velocity(chosen), velocity(load_family(ModelFamily.WAN, checkpoint_of(ModelFamily.WAN))))


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("family", slow_but(QUICK, CHOOSING))
def test_a_backend_without_masks_is_refused_exactly_where_the_transformer_masks(
    checkpoint_of: CheckpointOf, family: ModelFamily, batched: bool
) -> None:
    performance = PerformanceSpec(attention=AttentionBackend.FLASH_SDPA)
    scale = 3.0 if FAMILY_TRAITS[family].guidance is GuidanceKind.TRUE_CFG else 1.0
    clip = {"num_frames": 9} if FAMILY_TRAITS[family].makes_clips else {}
    sampling = sampling_of(family, guidance_scale=scale, batched_cfg=batched, **clip)
    refused = performance_problems(performance, family, sampling, DeepSpeedSpec(), deterministic=False)
    model = load_family(family, checkpoint_of(family), performance=performance)
    conditioning = model.conditioning(Prompt(text="a red square and a blue circle"), sampling)
    with pytest.raises(ValueError, match="mask") if refused else nullcontext():
        model.predict_velocity(noise_for(model, sampling), torch.full((2,), 0.7), conditioning)


@pytest.mark.slow
@pytest.mark.parametrize("family", [ModelFamily.FLUX, ModelFamily.WAN22, ModelFamily.SD3])
def test_compiled_rollout_and_compiled_replay_are_one_policy(
    checkpoint_of: CheckpointOf, process_group: None, family: ModelFamily
) -> None:
    spec = run_spec_of(family, performance={"compilation": "aot_eager"})
    # Checks the replay gate.
    run_one_batch(spec, checkpoint_of(family))
    assert counters["stats"]["unique_graphs"] > 0


@pytest.mark.slow
def test_a_new_adapter_needs_no_new_compilation(checkpoint_of: CheckpointOf, process_group: None) -> None:
    path = checkpoint_of(ModelFamily.FLUX)
    spec = run_spec_of(ModelFamily.FLUX, performance={"compilation": "aot_eager"})
    groups = draw_groups(spec, path, perturbed_version(spec, path, seed=1))
    trainer, num_pairs = trainer_rank(spec, path), spec.algebra.num_pairs_per_optimizer_step
    sampler = load_sampler(spec, path)

    def batch(policy_version: int) -> int:
        sampler.pull(perturbed_version(spec, path, seed=policy_version, policy_version=policy_version))
        assert sampler.policy_version == policy_version
        sampler._model.predict_velocity(*_inputs(sampler._model))
        trainer.accumulate(groups, num_pairs_total=num_pairs, fresh=False)
        trainer.commit()
        return int(counters["stats"]["unique_graphs"])

    first = batch(1)
    assert first > 0
    assert batch(2) == first


def test_frozen_copies_are_compiled_too(checkpoint_of: CheckpointOf) -> None:
    model = load_family(ModelFamily.FLUX, checkpoint_of(ModelFamily.FLUX), performance=COMPILED)
    model.prepare_training(run_spec_of(ModelFamily.FLUX))
    for each in (model, model.frozen_copy()):
        blocks = [m for m in each.transformer.modules() if type(m).__name__ == "FluxTransformerBlock"]
        assert blocks
        assert all(block._compiled_call_impl is not None for block in blocks)
    assert torch._dynamo.config.recompile_limit >= MAX_GRAPHS


def test_inductor_is_left_off_on_a_cpu(checkpoint_of: CheckpointOf) -> None:
    wanted = PerformanceSpec(compilation=Compilation.INDUCTOR)
    model = load_family(ModelFamily.FLUX, checkpoint_of(ModelFamily.FLUX), device="cpu", performance=wanted)
    velocity(model)
    assert counters["stats"]["unique_graphs"] == 0


def _inputs(model: ModelAdapter) -> tuple[torch.Tensor, torch.Tensor, Conditioning]:
    sampling = sampling_of(model.family)
    return noise_for(model, sampling), torch.full((2,), 0.7), model.conditioning(Prompt(text="a red square"), sampling)
