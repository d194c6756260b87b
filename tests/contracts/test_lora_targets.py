"""LoRA targets are held against a committed list of layers, without torch."""

import pytest

from worker.contracts.lora_targets import linear_layers_of, lora_target_problem, without_block
from worker.contracts.names import ModelFamily


@pytest.mark.parametrize(
    "targets",
    [
        (),
        ("attn.to_q", "to_k", "proj_out", "ff.net.0.proj"),
        ("transformer_blocks.3.attn.to_out.0", "single_transformer_blocks.37.proj_mlp"),
        ("x_embedder",),
    ],
)
def test_layers_and_their_ends_are_targets(targets: tuple[str, ...]) -> None:
    assert lora_target_problem(ModelFamily.FLUX, targets) is None


@pytest.mark.parametrize("target", ["to_qq", "o_q", "attn", "transformer_blocks.x.attn.to_q", "*.attn.to_q", "q", "."])
def test_what_names_no_layer_is_refused_with_the_nearest(target: str) -> None:
    problem = lora_target_problem(ModelFamily.FLUX, ("attn.to_q", target))
    assert problem is not None and repr(target) in problem and "matches nothing: use names such as " in problem


def test_the_nearest_names_come_first() -> None:
    assert "such as attn.to_q" in str(lora_target_problem(ModelFamily.FLUX, ("attn.to_qq",)))


def test_only_the_index_of_a_block_is_left_open() -> None:
    assert without_block("transformer_blocks.3.attn.to_out.0") == "transformer_blocks.*.attn.to_out.0"
    assert without_block("a.token_refiner.refiner_blocks.1.ff.net.2") == "a.token_refiner.refiner_blocks.*.ff.net.2"
    assert without_block("cap_embedder.1") == "cap_embedder.1"


def test_every_family_has_layers() -> None:
    assert all(len(linear_layers_of(family)) > 15 for family in ModelFamily)
