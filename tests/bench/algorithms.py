"""Every algorithm, and one with full fine-tuning, in a seeded run on the shapes reward: `make bench-algorithms`.

Each runs in one process on one thread with the shipped base model, without Ray (`worker.engine.local`). Reported are
held-out samples before and after training, with noise that was not trained on and deterministic denoising: their mean
reward, and as `judged` the share whose colour and shape are right according to a judge that no run trains on. The bench
fails when the held-out reward of an algorithm does not rise.

    python -m tests.bench.algorithms [--only flow_grpo refl] [--out var/bench/algorithms.json]
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from worker.contracts.run_spec import RunSpec
from worker.engine.local import LocalRun
from worker.engine.trainer.zero.process_group import init_process_group

ROOT = Path(__file__).parents[2]
SHAPES = ROOT / "deploy" / "models" / "shapes"
FILE = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "algorithms.json"
PROMPTS = (
    "a red square",
    "a green circle",
    "a blue triangle",
    "a yellow square",
    "a purple circle",
    "a orange triangle",
)
NUM_HELD_OUT = 32
"""The number of held-out samples of each prompt."""

COMMON: dict[str, Any] = {
    "prompts": {"inline": PROMPTS},
    "rewards": [{"name": "shape_match"}, {"name": "shape_judge", "watched": True}],
    "optimizer": {"learning_rate": 1.5e-3},
    "sampling": {
        "num_denoising_steps": 6,
        "num_eval_denoising_steps": 6,
        "noise_level": 0.8,
        "num_sde_steps": 3,
    },
    "batch": {"num_prompts_per_batch": 6, "group_size": 16, "num_epochs_per_batch": 4, "micro_batch_size": 48},
    "evaluation": {"num_samples_per_prompt": NUM_HELD_OUT},
    "num_batches": 8,
}
SETTINGS: dict[str, dict[str, Any]] = {
    "flow_grpo": {"algorithm": {"clip_range": 3e-3}},
    "flow_grpo_fast": {"algorithm": {"clip_range": 3e-3, "window_size": 2}, "num_batches": 10},
    "mix_grpo": {"algorithm": {"clip_range": 3e-3, "window_size": 2, "shift_every_num_batches": 4, "stride": 1}},
    "dance_grpo": {
        "algorithm": {"clip_range": 3e-3, "timestep_fraction": 0.6},
        "sampling": {"sde_type": "dance", "num_sde_steps": None},
        "num_batches": 14,
    },
    "grpo_guard": {"algorithm": {"clip_range": 1e-3}},
    "flow_dppo": {"algorithm": {"divergence_bound": 1e-3}},
    "diffusion_nft": {"algorithm": {"num_noise_levels": 3}},
    "diffusion_dpo": {"algorithm": {"num_preferences": 4, "num_noise_levels": 6}},
    "refl": {"algorithm": {"num_late_steps": 2, "kl_coefficient": 0.0}},
    "all_weights": {
        "algorithm": {"name": "flow_grpo", "clip_range": 3e-3},
        "tuning": "full",
        "optimizer": {"learning_rate": 3e-4},
    },
    "reward_flow": {"algorithm": {"num_gradient_steps": 2, "reward_scale": 1.0, "kl_coefficient": 0.0}},
}
"""The settings of each algorithm that differ from `COMMON`; `all_weights` is Flow-GRPO with full fine-tuning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """The results of one algorithm."""

    algorithm: str
    reward_before: float
    """The mean reward of held-out samples before training."""
    reward_after: float
    judged_before: float
    """The share of held-out samples that the judge finds right before training."""
    judged_after: float
    num_batches: int
    num_optimizer_steps: int
    processor_seconds: float
    """Processor seconds of generation, scoring and training, without start-up and evaluation."""
    wall_seconds: float
    """Wall-clock seconds of the same work, on a machine that may have been shared."""


def spec_of(name: str) -> RunSpec:
    changes = SETTINGS[name]
    sections = {**COMMON, **{key: value for key, value in changes.items() if not isinstance(value, dict)}}
    for section in ("sampling", "optimizer", "batch"):
        sections[section] = {**COMMON[section], **changes.get(section, {})}
    sections["algorithm"] = {"name": name, **changes["algorithm"]}
    return RunSpec.model_validate(sections)


def held_out(run: LocalRun) -> tuple[float, float]:
    """(mean reward, share that the judge finds right) of held-out samples of the current version."""
    groups = run.evaluate()
    judged = [score for group in groups for score in group.scores("shape_judge") if score is not None]
    return float(np.mean([group.rewards for group in groups])), float(np.mean(judged))


def row_of(name: str) -> Row:
    """Run one algorithm in this process."""
    spec = spec_of(name)
    run = LocalRun(spec, str(SHAPES))
    reward_before, judged_before = held_out(run)
    began, began_wall = time.process_time(), time.monotonic()
    for number in range(spec.num_batches):
        reward = run.train_batch().mean_reward
        print(
            f"{name}: batch {number + 1} of {spec.num_batches}, mean reward {reward:.3f}", file=sys.stderr, flush=True
        )
    seconds, wall = time.process_time() - began, time.monotonic() - began_wall
    reward_after, judged_after = held_out(run)
    return Row(
        algorithm=name,
        reward_before=round(reward_before, 4),
        reward_after=round(reward_after, 4),
        judged_before=round(judged_before, 4),
        judged_after=round(judged_after, 4),
        num_batches=spec.num_batches,
        num_optimizer_steps=spec.num_batches * spec.algebra.num_optimizer_steps_per_batch,
        processor_seconds=round(seconds, 1),
        wall_seconds=round(wall, 1),
    )


def run_one(name: str) -> None:
    """Run one algorithm and print its row as the last line; for a process of its own."""
    torch.set_num_threads(1)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    init_process_group(0, 1, "127.0.0.1", port)
    print(json.dumps(asdict(row_of(name))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=sorted(SETTINGS), default=list(SETTINGS))
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        run_one(arguments.one)
        return
    rows = []
    print(f"{'algorithm':16}  reward before → after   judged before → after   batches  steps  processor s  wall s")
    for name in arguments.only:
        command = [sys.executable, "-m", "tests.bench.algorithms", "--one", name]
        environment = os.environ | {"OMP_NUM_THREADS": "1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True)
        row = Row(**json.loads(done.stdout.splitlines()[-1]))
        rows.append(row)
        print(
            f"{row.algorithm:16}  {row.reward_before:13.3f} → {row.reward_after:.3f}"
            f"  {row.judged_before:14.2f} → {row.judged_after:.2f}   {row.num_batches:9d}  {row.num_optimizer_steps:5d}"
            f"  {row.processor_seconds:11.1f}  {row.wall_seconds:6.1f}",
            flush=True,
        )
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    used = {"common": COMMON, "settings": {row.algorithm: SETTINGS[row.algorithm] for row in rows}}
    arguments.out.write_text(json.dumps({"rows": [asdict(row) for row in rows], **used}, indent=1) + "\n")
    failed = [row.algorithm for row in rows if row.reward_after <= row.reward_before]
    if failed:
        sys.exit(f"the held-out reward did not rise with {', '.join(failed)}")


if __name__ == "__main__":
    main()
