"""Reward feedback on the shipped shapes model, whose pictures the differentiable reward can score."""

from pathlib import Path
from typing import Any

import pytest
import torch

from tests.engine.fixed_trajectories import draw_groups
from tests.engine.sharing_embeddings import trainer_rank
from worker.contracts.run_spec import RunSpec
from worker.engine.models.base import ModelAdapter
from worker.engine.models.lora import lora_disabled
from worker.engine.reward.shapes.shape_match_torch import TorchShapeMatch
from worker.engine.trainer.rank import TrainerRank
from worker.engine.types import GroupBatch

SLOW = pytest.mark.slow
SHAPES = str(Path(__file__).parents[3] / "deploy" / "models" / "shapes")
FLOW = {"name": "reward_flow", "num_gradient_steps": 2, "reward_scale": 0.5, "reward_mean": 0.1, "reward_std": 0.2}
REFL = {"name": "refl", "num_late_steps": 1, "reward_scale": 2.0}


def spec_of(algorithm: dict[str, Any]) -> RunSpec:
    return RunSpec.model_validate(
        {
            "prompts": {"inline": ["a red square"]},
            "rewards": [{"name": "shape_match"}],
            "algorithm": algorithm,
            "lora": {"rank": 4, "alpha": 8.0},
            "optimizer": {"max_grad_norm": 1e6},
            "sampling": {"num_denoising_steps": 4, "num_eval_denoising_steps": 4},
            "batch": {"num_prompts_per_batch": 1, "group_size": 4, "micro_batch_size": 4},
        }
    )


def perturb(trainer: TrainerRank) -> None:
    """Change the LoRA weights, so that the policy differs from the base."""
    generator = torch.Generator().manual_seed(4)
    with torch.no_grad():
        for parameter in trainer._trainable.values():
            parameter.add_(0.02 * torch.randn(parameter.shape, generator=generator))


@pytest.mark.parametrize("algorithm", [FLOW | {"kl_coefficient": 0.3}, REFL], ids=lambda algorithm: algorithm["name"])
def test_the_gradient_is_that_of_the_formula_written_out(process_group: None, algorithm: dict[str, Any]) -> None:
    spec = spec_of(algorithm)
    trainer = trainer_rank(spec, SHAPES)
    perturb(trainer)
    groups = draw_groups(spec, SHAPES, trainer.version(0))
    stats = trainer.accumulate(groups, num_pairs_total=4, fresh=True)
    found = [parameter.grad.clone() for parameter in trainer._trainable.values() if parameter.grad is not None]
    trainer.abort()
    loss = written_out_loss(trainer._model, groups[0], spec)
    loss.backward()
    expected = [parameter.grad for parameter in trainer._trainable.values() if parameter.grad is not None]
    # In fp32 four samples in one pass round differently than one by one.
    assert stats.sums["loss"] / 4 == pytest.approx(loss.item(), rel=1e-4)
    one, other = (torch.cat([gradient.flatten() for gradient in gradients]) for gradients in (found, expected))
    assert other.norm() > 0
    assert float((one - other).norm()) < 1e-3 * float(other.norm())


def written_out_loss(model: ModelAdapter, group: GroupBatch, spec: RunSpec) -> torch.Tensor:
    """The mean loss, computed sample by sample."""
    trajectories, settings = group.trajectories[0], spec.algorithm
    conditioning = model.conditioning(trajectories.prompt, spec.sampling)
    schedule, first = trajectories.sigmas, trajectories.sde_indices[0]
    losses = []
    for member in range(4):
        sample, penalties = trajectories.states[trajectories.sde_indices[0]][member], []
        for index in range(first, 4):
            sigma = schedule[index][None]
            velocity = model.predict_velocity(sample[None], sigma, conditioning)[0]
            with torch.no_grad(), lora_disabled(model.transformer):
                reference = model.predict_velocity(sample.detach()[None], sigma, conditioning)[0]
            penalties.append(((velocity - reference) ** 2).mean() / (2 * sigma[0] ** 2))
            sample = sample + (schedule[index + 1] - schedule[index]) * velocity
        reward = TorchShapeMatch(model.device)(model.pixels(sample[None], height=32, width=32), trajectories.prompt)[0]
        if settings.name == "reward_flow":
            loss = -settings.reward_scale * (reward - settings.reward_mean) / settings.reward_std
        else:
            assert settings.name == "refl"
            loss = -settings.reward_scale * reward
        losses.append(loss + settings.kl_coefficient * torch.stack(penalties).mean())
    return torch.stack(losses).mean()


def test_steps_along_the_gradient_raise_the_rewards_of_the_same_samples(process_group: None) -> None:
    spec = spec_of(FLOW | {"reward_scale": 1.0, "reward_std": 1.0})
    trainer = trainer_rank(spec, SHAPES)
    groups = draw_groups(spec, SHAPES, trainer.version(0))
    losses = []
    for _ in range(5):
        losses.append(trainer.accumulate(groups, num_pairs_total=4, fresh=False).sums["loss"])
        trainer.commit()
    assert losses[-1] < losses[0] - 0.02


@pytest.mark.parametrize("stage", [pytest.param(1, marks=SLOW), pytest.param(2, marks=SLOW), 3])
def test_a_step_is_the_same_in_every_zero_stage_and_after_a_resume(
    process_group: None, stage: int, tmp_path: Path
) -> None:
    """One backward pass goes through several forward passes here."""
    trainers = {}
    for zero in (0, stage):
        spec = RunSpec.model_validate(spec_of(FLOW).model_dump() | {"deepspeed": {"config": f"zero{zero}"}})
        trainers[zero] = trainer_rank(spec, SHAPES)
    groups = draw_groups(spec_of(FLOW), SHAPES, trainers[0].version(0))
    for trainer in trainers.values():
        trainer.accumulate(groups, num_pairs_total=4, fresh=True)
        trainer.commit()
    trainers[stage].save_checkpoint(str(tmp_path / "one"), {})
    resumed = trainer_rank(spec, SHAPES)
    resumed.load_checkpoint(str(tmp_path / "one"))
    for trainer in (trainers[0], resumed):
        trainer.accumulate(groups, num_pairs_total=4, fresh=False)
        trainer.commit()
    found = resumed.version(2).tensors
    for name, tensor in trainers[0].version(2).tensors.items():
        torch.testing.assert_close(found[name], tensor, rtol=1e-4, atol=1e-6)
