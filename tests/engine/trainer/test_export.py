"""What a user downloads is bitwise the policy that was trained."""

from collections.abc import Callable
from pathlib import Path

import torch
from diffusers import FluxPipeline

from tests.engine.stored_lora import read_lora
from worker.contracts.run_spec import RunSpec
from worker.engine.models.conditioning import Conditioning
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch, PublishedShard

TrainerMaker = Callable[..., TrainerRank]


def test_plain_diffusers_loads_the_export_with_zero_difference(
    make_trainer: TrainerMaker, tiny_checkpoint: str, tmp_path: Path
) -> None:
    trainer = make_trainer()
    trainer.export(str(tmp_path))
    pipeline = FluxPipeline.from_pretrained(tiny_checkpoint)
    model = trainer._model
    prompt = model.encode_prompt("a red square")
    latents, sigmas = torch.randn(2, 16, 16), torch.full((2,), 0.5)

    def plain() -> torch.Tensor:
        with torch.no_grad():
            return pipeline.transformer(
                hidden_states=latents,
                timestep=sigmas,
                pooled_projections=prompt["pooled"].expand(2, -1),
                encoder_hidden_states=prompt["embeds"].expand(2, -1, -1),
                txt_ids=prompt["text_ids"],
                img_ids=pipeline._prepare_latent_image_ids(1, 4, 4, "cpu", torch.float32),
                return_dict=False,
            )[0]

    base = plain()
    pipeline.load_lora_weights(tmp_path)
    with torch.no_grad():
        trained = model.predict_velocity(
            latents, sigmas, Conditioning(prompt=prompt, height=32, width=32, guidance_scale=1.0)
        )
    assert torch.equal(plain(), trained)
    assert not torch.equal(base, trained)


def test_an_export_is_read_back_as_the_same_adapter(
    make_trainer: TrainerMaker, make_spec: Callable[..., RunSpec], behaviour: PublishedShard, tmp_path: Path
) -> None:
    make_trainer().export(str(tmp_path))
    assert read_lora(tmp_path, make_spec().lora).sha256 == behaviour.sha256


def test_training_from_a_loaded_adapter_starts_there_in_every_stage(
    make_trainer: TrainerMaker, behaviour: PublishedShard, groups: list[GroupBatch]
) -> None:
    results = set()
    for stage in (0, 1, 2, 3):
        trainer = make_trainer(deepspeed={"config": f"zero{stage}"}, optimizer={"max_grad_norm": 1e9})
        assert trainer.version(0).sha256 == behaviour.sha256
        stats = trainer.accumulate(groups, num_pairs_total=24, fresh=True)
        assert stats.maxima["ratio_deviation"] < 1e-5
        trainer.commit()
        if stage < 3:
            # ZeRO 3 adds up the gradients of a tensor that is used twice in another order.
            results.add(trainer.version(1).sha256)
    assert len(results) == 1
