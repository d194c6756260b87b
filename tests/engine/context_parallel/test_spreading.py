"""Predictions and whole trajectories that are spread over the ranks of a lane are those of one GPU but for rounding:
within 1e-5 in fp32, over gloo, for every family that diffusers has a plan for."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from diffusers.models.attention_dispatch import _AttentionBackendRegistry

from tests.engine.context_parallel.spread_worker import Case
from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import sampling_of
from tests.engine.rank_processes import run_rank_processes
from worker.contracts.names import ModelFamily
from worker.contracts.performance import SPREADABLE_BACKENDS, SPREADABLE_FAMILIES, AttentionBackend, Compilation
from worker.contracts.sections import BaseModelSpec
from worker.engine.context_parallel.calls import SpreadCalls
from worker.engine.context_parallel.spreading import check_spreadable
from worker.engine.errors import LaneSpreadError, ModelLoadError
from worker.engine.models.experts import experts_of
from worker.engine.models.registry import MODEL_ADAPTERS, load_model
from worker.fixtures.tiny_models.chat_encoders import randomised
from worker.fixtures.tiny_models.tiny_pipelines import TINY_PIPELINES

WORKER = "tests.engine.context_parallel.spread_worker"
TOLERANCE = 1e-5
IN_FAST_TESTS = (ModelFamily.FLUX, ModelFamily.WAN)
"""One family whose plan divides the prompt's tokens, one that makes clips."""
ODD_PROMPT = "a red squares"
"""Its tokens cannot be divided by two in Qwen-Image, whose prompts are not padded."""


def assert_same(result: dict[str, Any], *, num_parts: int, num_tokens: int, has_graphs: bool) -> None:
    assert result["graph_breaks"] == {} and (result["num_graphs"] > 0) is has_graphs
    assert result["num_tokens_of_block"] * num_parts == num_tokens
    torch.testing.assert_close(result["together"], result["alone"], rtol=0, atol=TOLERANCE)
    together, alone = result["fragment_together"], result["fragment_alone"]
    for name in ("states", "means"):
        assert together[name].keys() == alone[name].keys() != set()
        for step, tensor in together[name].items():
            torch.testing.assert_close(tensor, alone[name][step], rtol=0, atol=TOLERANCE)
    torch.testing.assert_close(together["log_probs"], alone["log_probs"], rtol=0, atol=TOLERANCE)
    np.testing.assert_allclose(together["images"].astype(int), alone["images"].astype(int), atol=1)


def num_tokens_of(case: Case) -> int:
    """4 × 6 patches of a picture, 2 × 3 of each latent frame of a clip."""
    is_clip = case.family in (ModelFamily.WAN, ModelFamily.WAN22)
    return 6 * (1 + (case.num_frames - 1) // 4) if is_clip else 24


def assert_all_same(cases: list[Case], folder: Path, *, num_ranks: int) -> None:
    """Every pass of rank 0 is followed by all others, and draws what one rank draws."""
    results, *followers = run_rank_processes(WORKER, cases, folder, world_size=num_ranks)
    for number, (case, result) in enumerate(zip(cases, results, strict=True)):
        # The negative prompt, whose tokens can be divided equally, has a pass of its own unless both are in one.
        is_odd = case.prompt == ODD_PROMPT and case.batched_cfg
        has_graphs = case.compilation is not Compilation.OFF and not is_odd
        assert_same(result, num_parts=num_ranks, num_tokens=num_tokens_of(case), has_graphs=has_graphs)
        for passes in followers:
            predicted, drawn = passes[number]
            assert drawn == 4 * predicted > 0 or (case.family is ModelFamily.WAN22 and drawn > 0)


@pytest.fixture(scope="module")
def with_four_heads(tmp_path_factory: pytest.TempPathFactory) -> Callable[[ModelFamily], str]:
    """Tiny checkpoints with twice as many attention heads."""
    folder = tmp_path_factory.mktemp("four-heads")

    def build(family: ModelFamily) -> str:
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            pipeline = TINY_PIPELINES[family]()
            for name in ("transformer", "transformer_2"):
                if (one := getattr(pipeline, name, None)) is not None:
                    setattr(pipeline, name, randomised(type(one).from_config(one.config, num_attention_heads=4)))
        pipeline.save_pretrained(folder / family.value, safe_serialization=True)
        return str(folder / family.value)

    return build


def test_two_gpus_draw_what_one_draws(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    """Also with captured blocks where a prompt cannot be divided equally, whose exchange torch cannot capture."""
    odd = Case(
        family=ModelFamily.QWEN_IMAGE,
        path=checkpoint_of(ModelFamily.QWEN_IMAGE),
        prompt=ODD_PROMPT,
        batched_cfg=True,
        compilation=Compilation.AOT_EAGER,
    )
    whole = [Case(family=family, path=checkpoint_of(family)) for family in IN_FAST_TESTS]
    assert_all_same([*whole, odd], tmp_path, num_ranks=2)


@pytest.mark.slow
def test_every_family_with_a_plan_is_spread_over_two_gpus(checkpoint_of: CheckpointOf, tmp_path: Path) -> None:
    """Also where prompts cannot be divided equally, where a batched pass masks the shorter prompt, and with captured
    blocks."""
    cases = [Case(family=family, path=checkpoint_of(family)) for family in sorted(SPREADABLE_FAMILIES)]
    qwen = next(case for case in cases if case.family is ModelFamily.QWEN_IMAGE)
    cases += [replace(qwen, prompt=ODD_PROMPT), replace(qwen, prompt=ODD_PROMPT, batched_cfg=True)]
    cases += [replace(case, compilation=Compilation.AOT_EAGER) for case in cases]
    assert_all_same(cases, tmp_path, num_ranks=2)


@pytest.mark.slow
def test_four_gpus_draw_what_one_draws(with_four_heads: Callable[[ModelFamily], str], tmp_path: Path) -> None:
    """FLUX's prompts of 6 tokens cannot be divided by four equally."""
    families = (ModelFamily.FLUX, ModelFamily.FLUX2, ModelFamily.QWEN_IMAGE, ModelFamily.WAN)
    # 4 latent frames, whose 24 tokens four divides.
    cases = [Case(family=family, path=with_four_heads(family), num_frames=13) for family in families]
    assert_all_same(cases, tmp_path, num_ranks=4)


@pytest.mark.parametrize("family", MODEL_ADAPTERS)
def test_families_that_can_be_spread_are_those_that_diffusers_has_a_plan_for(
    checkpoint_of: CheckpointOf, family: ModelFamily
) -> None:
    model = load_model(BaseModelSpec(family=family), checkpoint_of(family), parts=frozenset())
    has_plan = all(expert._cp_plan is not None for expert in experts_of(model.transformer).values())
    assert has_plan == (family in SPREADABLE_FAMILIES)


def test_backends_that_can_be_spread_are_those_of_diffusers() -> None:
    by_choice = {AttentionBackend.AUTO, AttentionBackend.DEFAULT}
    chosen = {
        backend for backend in AttentionBackend if backend in _AttentionBackendRegistry._supports_context_parallel
    }
    assert chosen | by_choice == SPREADABLE_BACKENDS
    assert {"native", AttentionBackend.CUDNN} <= _AttentionBackendRegistry._supports_context_parallel


def test_a_number_of_gpus_that_does_not_divide_the_heads_is_refused(checkpoint_of: CheckpointOf) -> None:
    model = load_model(BaseModelSpec(family=ModelFamily.WAN), checkpoint_of(ModelFamily.WAN), parts=frozenset())
    clip = sampling_of(ModelFamily.WAN, num_frames=9)
    check_spreadable(model, clip, 2)
    with pytest.raises(ModelLoadError, match=r"3 does not divide the 2 attention heads .* one of 1, 2"):
        check_spreadable(model, clip, 3)


def test_a_number_of_gpus_that_does_not_divide_the_tokens_is_refused(checkpoint_of: CheckpointOf) -> None:
    model = load_model(BaseModelSpec(family=ModelFamily.WAN), checkpoint_of(ModelFamily.WAN), parts=frozenset())
    with pytest.raises(ModelLoadError, match=r"4 does not divide the 18 tokens .* `sampling.width`"):
        check_spreadable(model, sampling_of(ModelFamily.WAN, num_frames=9), 4)


def test_a_family_without_a_plan_is_refused(checkpoint_of: CheckpointOf) -> None:
    model = load_model(BaseModelSpec(family=ModelFamily.SD3), checkpoint_of(ModelFamily.SD3), parts=frozenset())
    with pytest.raises(ModelLoadError, match="must be off for a lane of 2 GPUs and sd3"):
        check_spreadable(model, sampling_of(ModelFamily.SD3), 2)


def test_a_prompt_of_fewer_tokens_than_gpus_is_refused_before_anything_is_sent() -> None:
    expert = torch.nn.Identity()
    calls = SpreadCalls(expert, 8)
    calls.begin()
    with pytest.raises(LaneSpreadError, match=r"at least 8 tokens .* got 5"):
        expert.forward(hidden_states=torch.zeros(1, 64, 4), encoder_hidden_states=torch.zeros(1, 5, 4))
    assert not calls.is_broken
