"""Local runs, in one process and without Ray. `ray/test_run.py` compares runs on lanes with them."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from worker.contracts.metric_names import Metric
from worker.contracts.run_spec import RunSpec
from worker.engine.local import LocalRun, ScoredGroup, read_spec

ROOT = Path(__file__).parents[2]
SHAPES = str(ROOT / "deploy" / "models" / "shapes")
TWO_PROMPTS: dict[str, Any] = {
    "prompts": {"inline": ["a red square", "a blue circle"]},
    "rewards": [{"name": "shape_match"}, {"name": "colorfulness", "watched": True}],
    "algorithm": {"clip_range": 3e-3},
    "optimizer": {"learning_rate": 1.5e-3},
    "sampling": {"num_denoising_steps": 4, "num_eval_denoising_steps": 4, "noise_level": 0.8},
    "batch": {
        "num_prompts_per_batch": 2,
        "group_size": 4,
        "num_epochs_per_batch": 2,
        "micro_batch_size": 12,
        "fragment_size": 2,
    },
}


def test_two_batches_of_the_shipped_model_from_rollout_to_pull(process_group: None) -> None:
    run = LocalRun(RunSpec.model_validate(TWO_PROMPTS), SHAPES)
    checksums = [run.trainer.version(0).sha256]
    for _ in range(2):
        result = run.train_batch()
        assert run.sampler.policy_version == run.policy_version
        assert abs(result.metrics[Metric.RATIO_MEAN] - 1) < 0.1
        assert result.metrics[Metric.GRAD_NORM] > 0
        assert all(
            set(part.parts) == {"shape_match", "colorfulness"} for group in result.groups for part in group.scored
        )
        assert [[fragment.images.shape for fragment in group.generated] for group in result.groups] == [
            [(2, 32, 32, 3)] * 2
        ] * 2
        checksums.append(run.trainer.version(run.policy_version).sha256)
    assert len(set(checksums)) == 3


def test_at_staleness_one_every_batch_but_the_first_is_drawn_by_the_version_before(process_group: None) -> None:
    """The replay gate passes, so the samples are of that version; evaluation draws with the newest."""

    def versions(groups: tuple[ScoredGroup, ...]) -> set[int]:
        return {fragment.fragment.policy_version for group in groups for fragment in group.generated}

    run = LocalRun(RunSpec.model_validate(TWO_PROMPTS | {"pipeline": {"max_staleness": 1}}), SHAPES)
    drawn_by, rewards = [], []
    for number in range(3):
        result = run.train_batch()
        drawn_by.append(versions(result.groups))
        rewards.append(result.mean_reward)
        assert versions(run.evaluate()) == {number + 1}
    assert drawn_by == [{0}, {0}, {1}]
    fresh = LocalRun(RunSpec.model_validate(TWO_PROMPTS), SHAPES)
    assert fresh.train_batch().mean_reward == rewards[0], "the first batch is fresh"
    assert fresh.train_batch().mean_reward != rewards[1]


def test_training_makes_held_out_pictures_more_colourful_when_colour_is_the_reward(process_group: None) -> None:
    """A few batches raise the reward of the shipped model on seeds that it never trained on."""
    spec = RunSpec.model_validate(
        TWO_PROMPTS
        | {
            "rewards": [{"name": "colorfulness"}],
            "algorithm": {"clip_range": 1e-2},
            "optimizer": {"learning_rate": 3e-3},
            "batch": {"num_prompts_per_batch": 2, "group_size": 16, "num_epochs_per_batch": 2, "micro_batch_size": 48},
            "evaluation": {"num_samples_per_prompt": 16},
        }
    )
    run = LocalRun(spec, SHAPES)

    def held_out() -> float:
        return float(np.mean([group.rewards for group in run.evaluate()]))

    before = held_out()
    for _ in range(6):
        run.train_batch()
    assert held_out() > before + 0.02


def test_presets_and_plain_specs_are_read_alike(tmp_path: Path) -> None:
    plain, preset = tmp_path / "spec.yaml", tmp_path / "preset.yaml"
    plain.write_text(yaml.safe_dump(TWO_PROMPTS))
    preset.write_text(yaml.safe_dump({"name": "two", "spec": TWO_PROMPTS}))
    assert read_spec(plain) == read_spec(preset) == RunSpec.model_validate(TWO_PROMPTS)


def test_the_command_trains_and_writes_a_lora(tmp_path: Path) -> None:
    spec = tmp_path / "spec.yaml"
    spec.write_text(yaml.safe_dump(TWO_PROMPTS))
    command = [sys.executable, "-m", "worker.engine.local", str(spec), "--model", SHAPES, "--num-batches", "1"]
    done = subprocess.run(
        [*command, "--lora", str(tmp_path / "out")], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "batch 1 of 1" in done.stdout
    assert (tmp_path / "out" / "pytorch_lora_weights.safetensors").is_file()
