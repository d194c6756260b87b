"""How often each family's blocks are captured for `torch.compile`, as they run on a card by default: LoRA layers on a
bf16 base, and SDPA's kernel chosen in the block.

Capturing needs no card. The graphs are run by torch's interpreter instead of compiled, since what is counted does not
depend on what becomes of a graph.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import pytest
import torch
from torch._dynamo.backends import registry
from torch._dynamo.backends.debugging import eager
from torch._dynamo.eval_frame import _debug_get_cache_entry_list
from torch._dynamo.utils import counters

from tests.engine.fixed_trajectories import draw_groups
from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import run_spec_of
from tests.engine.sharing_embeddings import load_sampler, trainer_rank
from tests.slow_params import slow_but
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import GuidanceKind, ModelFamily
from worker.contracts.performance import WITHOUT_ATTENTION_CHOICE
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.kernels import MAX_GRAPHS
from worker.engine.models.registry import load_model
from worker.engine.trainer.zero.activation_checkpointing import recompute_blocks

PROMPT = "a red square and a blue circle above a green triangle in the left corner of"
GUIDED = [family for family, traits in FAMILY_TRAITS.items() if traits.guidance is GuidanceKind.TRUE_CFG]
SIGMAS = (0.9, 0.1)
"""One for each of Wan2.2's experts."""

GRAPHS_OF_TRAINING = {
    ModelFamily.FLUX: 4,
    ModelFamily.SD3: 2,
    ModelFamily.FLUX2: 3,
    ModelFamily.FLUX2_KLEIN: 3,
    ModelFamily.QWEN_IMAGE: 4,
    ModelFamily.Z_IMAGE: 3,
    ModelFamily.WAN: 2,
    ModelFamily.WAN22: 2,
    ModelFamily.HUNYUAN_VIDEO: 6,
}
"""Of one guided prediction with gradients: one for each kind of block and each way in which it is called. The first
block of a kind has inputs without gradients; later ones have them, or inputs that lie in memory differently.
Qwen-Image's negative prompt has another length, which is a second graph for each, of any length."""


@pytest.fixture(autouse=True)
def interpreted_graphs(monkeypatch: pytest.MonkeyPatch, restored_libraries: None) -> None:
    """Graphs are captured and not compiled."""
    monkeypatch.setitem(registry._COMPILER_FNS, "aot_eager", eager)


def prompt_of(num_words: int) -> str:
    return " ".join(PROMPT.split()[:num_words])


def spec_of(family: ModelFamily, *, batched_cfg: bool = False) -> RunSpec:
    performance = {"compilation": "aot_eager"}
    if family not in WITHOUT_ATTENTION_CHOICE:
        # A kernel that a CPU has too, chosen as cuDNN's is.
        performance["attention"] = "_native_math"
    return run_spec_of(
        family,
        base_model={"dtype": "bf16"},
        performance=performance,
        # Several micro-batches of 3 of the 8 pairs of a group, and a smaller last one.
        batch={"group_size": 4, "fragment_size": 2, "micro_batch_size": 3},
        prompts={"inline": (prompt_of(3), prompt_of(7))},
        sampling={
            "guidance_scale": 3.0 if family in GUIDED else 1.0,
            "batched_cfg": batched_cfg,
            "num_frames": 9 if FAMILY_TRAITS[family].makes_clips else 1,
        },
    )


def compiled_model(spec: RunSpec, path: str) -> ModelAdapter:
    """A model as a trainer rank has it whose memory demands that all blocks are recomputed."""
    model = load_model(spec.base_model, path, performance=spec.kernels)
    model.prepare_training(spec)
    recompute_blocks(model.transformer, Fraction(1), is_sharded=False)
    return model


def predict(model: ModelAdapter, spec: RunSpec, *, num_rows: int, num_words: int, is_training: bool) -> None:
    """A prediction for one prompt, and where it trains the backward pass, at each of `SIGMAS`."""
    sampling = spec.sampling
    shape = model.latent_shape(sampling.height, sampling.width, sampling.num_frames)
    conditioning = model.conditioning(Prompt(text=prompt_of(num_words)), sampling)
    for sigma in SIGMAS:
        latents = torch.randn(num_rows, *shape)
        with torch.enable_grad() if is_training else torch.inference_mode():
            velocity = model.predict_velocity(latents, torch.full((num_rows,), sigma), conditioning)
            if is_training:
                velocity.sum().backward()


def num_graphs() -> int:
    assert dict(counters["graph_break"]) == {}
    return int(counters["stats"]["unique_graphs"])


def graphs_of_kinds(model: ModelAdapter) -> dict[str, int]:
    """The graphs of each class of compiled blocks, which `MAX_GRAPHS` bounds."""
    compiled = [module for module in model.transformer.modules() if module._compiled_call_impl is not None]
    kinds = {type(module).__name__: type(module).forward for module in compiled}
    return {name: len(_debug_get_cache_entry_list(forward.__code__)) for name, forward in kinds.items()}


def assert_bounded(model: ModelAdapter, number: int) -> None:
    """All `number` graphs are of blocks, and there is room for as many again that a published checkpoint may need."""
    found = graphs_of_kinds(model)
    assert sum(found.values()) == number
    assert min(found.values()) > 0 and max(found.values()) <= MAX_GRAPHS / 2


QUICK = (ModelFamily.SD3, ModelFamily.Z_IMAGE, ModelFamily.WAN)
"""Joint streams, one stream, and cross-attention of clips."""


@pytest.mark.parametrize("family", slow_but(QUICK, FAMILY_TRAITS))
def test_every_block_is_one_graph(checkpoint_of: CheckpointOf, family: ModelFamily) -> None:
    spec = spec_of(family)
    predict(compiled_model(spec, checkpoint_of(family)), spec, num_rows=2, num_words=3, is_training=True)
    assert num_graphs() == GRAPHS_OF_TRAINING[family]


CASES = [(family, False) for family in FAMILY_TRAITS] + [(family, True) for family in GUIDED]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "batched_cfg"), CASES)
def test_new_sizes_of_calls_and_prompts_soon_need_no_new_graph(
    checkpoint_of: CheckpointOf, family: ModelFamily, batched_cfg: bool
) -> None:
    spec = spec_of(family, batched_cfg=batched_cfg)
    model = compiled_model(spec, checkpoint_of(family))

    def predict_all(numbers_of_rows: Sequence[int], numbers_of_words: Sequence[int]) -> int:
        for is_training, words, rows in product((False, True), numbers_of_words, numbers_of_rows):
            predict(model, spec, num_rows=rows, num_words=words, is_training=is_training)
        return num_graphs()

    first = predict_all((2, 4, 1, 3), (3, 13, 2, 5))
    assert predict_all((5, 1, 8, 3), (7, 9, 2, 11)) == first
    assert_bounded(model, first)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILY_TRAITS)
def test_a_run_captures_blocks_in_its_first_batches_only(
    checkpoint_of: CheckpointOf, process_group: None, family: ModelFamily
) -> None:
    spec, path = spec_of(family), checkpoint_of(family)
    trainer, sampler = trainer_rank(spec, path), load_sampler(spec, path)

    def batch(number: int) -> int:
        groups = draw_groups(spec, path, trainer.version(number), batch=number, fragment_size=2, sampler=sampler)
        trainer.accumulate(groups, num_pairs_total=spec.algebra.num_pairs_per_optimizer_step, fresh=True)
        trainer.commit()
        return num_graphs()

    # The smaller micro-batch is the one whose KL is monitored, without gradients, in batch 2 for the first time.
    numbers = [batch(number) for number in range(6)]
    assert numbers[3:] == [numbers[2]] * 3
    assert_bounded(trainer._model, numbers[-1])
