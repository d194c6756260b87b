"""A batch of every family on the pretended card, whose process `test_on_a_pretended_card` starts: it is drawn, trained,
published and pulled, so that an adapter that leaves a tensor on the CPU fails here as on a card."""

from typing import Any

import pytest

from tests.engine.models.conftest import CheckpointOf
from tests.engine.models.family_checks import run_one_batch, run_spec_of
from worker.contracts.families import FAMILY_TRAITS
from worker.contracts.names import GuidanceKind, ModelFamily
from worker.engine.devices.selection import resolve_device

WAYS: dict[str, dict[str, Any]] = {
    "LoRA": {},
    "all weights": {"tuning": "full", "deepspeed": {"config": "zero1"}},
    "guided": {"sampling": {"guidance_scale": 2.0}},
    "recomputed, bf16": {
        "base_model": {"dtype": "bf16"},
        "deepspeed": {"config": "zero2", "gradient_checkpointing": 1},
        "performance": {"compilation": "off"},
    },
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("family", ModelFamily)
def test_a_batch_is_drawn_trained_published_and_pulled(
    checkpoint_of: CheckpointOf, process_group: None, family: ModelFamily, way: str
) -> None:
    assert resolve_device(None).type == "pretend"
    traits, sections = FAMILY_TRAITS[family], {**WAYS[way]}
    # Both predictions in one pass, of which the shorter prompt is padded where prompts are not.
    is_batched = way == "guided" and traits.guidance is GuidanceKind.TRUE_CFG
    frames = {} if traits.frames_per_latent is None else {"num_frames": 1 + 2 * traits.frames_per_latent}
    sections["sampling"] = {**sections.get("sampling", {}), **frames, "batched_cfg": is_batched}
    stats, receipt, published = run_one_batch(run_spec_of(family, **sections), checkpoint_of(family))
    assert stats.num_pairs > 0 and receipt.sha256 == published.sha256
