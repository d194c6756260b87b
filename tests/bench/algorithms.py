"""Every algorithm on the shapes reward, each (and one of all weights) in a seeded run: `make bench-algorithms`.

One process, one thread, the shipped base model, no Ray: rollout, scoring and training by the engine's plain classes, in
the order in which a run goes through them. Before and after are held-out samples: other noise than was trained on,
deterministic denoising. `judged` is the share whose colour and shape an independent judge, never trained on, finds
right. It fails when the held-out reward of an algorithm does not rise.

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
from worker.engine.advantage.mixed import mixed_advantages
from worker.engine.metrics.replay_gate import check_replay_gate
from worker.engine.metrics.update_metrics import merge_stats
from worker.engine.reward.scorer import Scorer
from worker.engine.rollout.sampler import Sampler
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.process_group import init_process_group
from worker.engine.types import GenerationRequest, GroupBatch, ScoredFragment
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

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
"""Of each prompt."""

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
"""What differs from `COMMON`, by algorithm; `all_weights` is Flow-GRPO without LoRA."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    algorithm: str
    reward_before: float
    reward_after: float
    judged_before: float
    judged_after: float
    num_batches: int
    num_optimizer_steps: int
    processor_seconds: float
    """Of training, generation and scoring, without start-up and evaluation."""
    wall_seconds: float
    """Of the same; the machine may have been shared."""


def spec_of(name: str) -> RunSpec:
    changes = SETTINGS[name]
    laid = {**COMMON, **{key: value for key, value in changes.items() if not isinstance(value, dict)}}
    laid["sampling"] = {**COMMON["sampling"], **changes.get("sampling", {})}
    laid["optimizer"] = {**COMMON["optimizer"], **changes.get("optimizer", {})}
    laid["batch"] = {**COMMON["batch"], **changes.get("batch", {})}
    laid["algorithm"] = {"name": name, **changes["algorithm"]}
    return RunSpec.model_validate(laid)


class Bench:
    """One run, from base model to last batch."""

    def __init__(self, spec: RunSpec) -> None:
        self._spec = spec
        self._trainer = TrainerRank(spec, str(SHAPES), 0, 1)
        self._rollout = Sampler.load(spec, str(SHAPES))
        self._scorer = Scorer(spec.rewards)
        self._rollout.pull(self._trainer.version(0))

    def held_out(self) -> tuple[float, float]:
        """Mean reward and judged share of the version that is pulled."""
        scored = [self._generate(Purpose.EVALUATE, 0, group, NUM_HELD_OUT)[1] for group in range(len(PROMPTS))]
        rewards = [reward for part in scored for reward in part.rewards]
        judged = [score for part in scored for score in part.parts["shape_judge"] if score is not None]
        return float(np.mean(rewards)), float(np.mean(judged))

    def batch(self, number: int) -> float:
        """Generate, score, train, publish and pull; returns the mean reward of what was generated."""
        spec, drawn = self._spec, []
        for group in range(spec.algebra.num_groups):
            drawn.append(self._generate(Purpose.TRAIN, number, group, spec.batch.group_size))
        advantages = mixed_advantages(
            [scored.parts for _, scored in drawn],
            {reward.key: reward.weight for reward in spec.trained_rewards},
            mixing=spec.reward_mixing,
            clip=spec.algorithm.advantage_clip,
            over_batch=spec.algorithm.advantage_std == "batch",
        )
        groups = [
            GroupBatch(batch=number, group=group, trajectories=(made,), advantages=advantages[group].advantages)
            for group, (made, _) in enumerate(drawn)
            if made is not None
        ]
        self._train(groups)
        self._rollout.pull(self._trainer.version(number + 1))
        return float(np.mean([scored.rewards for _, scored in drawn]))

    def _train(self, groups: list[GroupBatch]) -> None:
        num_pairs = self._spec.algebra.num_pairs_per_optimizer_step
        for epoch in range(self._spec.batch.num_epochs_per_batch):
            stats = merge_stats([self._trainer.accumulate(groups, num_pairs_total=num_pairs, fresh=epoch == 0)])
            if epoch == 0 and self._spec.algorithm.needs.log_probs:
                check_replay_gate(stats, self._spec.replay_bounds)
            self._trainer.commit()

    def _generate(self, purpose: Purpose, batch: int, group: int, size: int) -> tuple[Any, ScoredFragment]:
        version = self._rollout.policy_version
        assert version is not None
        fragment = Fragment(FragmentKey(purpose, batch, group, 0), tuple(range(size)), version)
        request = GenerationRequest(fragment=fragment, prompt=PROMPTS[group], run_seed=0, prompt_index=group)
        made = self._rollout.generate(request)
        return made.trajectories, self._scorer.score(fragment, request.prompt, made.images)


def run(name: str) -> Row:
    """In this process."""
    spec = spec_of(name)
    bench = Bench(spec)
    reward_before, judged_before = bench.held_out()
    began, began_wall = time.process_time(), time.monotonic()
    for number in range(spec.num_batches):
        reward = bench.batch(number)
        print(
            f"{name}: batch {number + 1} of {spec.num_batches}, mean reward {reward:.3f}", file=sys.stderr, flush=True
        )
    seconds, wall = time.process_time() - began, time.monotonic() - began_wall
    reward_after, judged_after = bench.held_out()
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
    """In a process of its own, whose last line is the row."""
    torch.set_num_threads(1)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    init_process_group(0, 1, "127.0.0.1", port)
    print(json.dumps(asdict(run(name))))


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
