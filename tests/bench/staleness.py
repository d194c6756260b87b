"""What is learnt per sample at staleness 0 and 1 with Flow-GRPO's small clip range: `make bench-staleness`.

Each run is seeded, in one process on one thread with the shipped base model (`worker.engine.local`). At staleness 1 it
draws every batch but the first with the version before, which is the most that lanes ever fall behind. Reported are,
over the seeds, the mean reward of held-out samples in the course of the run, and the share of pairs whose loss has no
gradient in each optimizer step of a batch. The bench fails when an algorithm learns no more from stale samples that are
clipped around the proximal policy than from those clipped around the policy that drew them.

    python -m tests.bench.staleness [--only mix_grpo] [--seeds 0 1 2] [--clip-range 1e-4] [--learning-rate 3e-3]
                                    [--num-batches 16] [--out FILE]
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

from tests.bench.algorithms import COMMON, ROOT, SHAPES, held_out
from worker.contracts.run_spec import RunSpec
from worker.engine.algorithms.base import ReplayedPairs
from worker.engine.local import LocalRun
from worker.engine.trainer.zero.process_group import init_process_group

FILE = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "staleness.json"
EVALUATION_INTERVAL = 4
"""Batches between two evaluations."""
ALGORITHMS: dict[str, dict[str, Any]] = {
    "flow_grpo": {},
    # Two thirds of the stochastic steps, and every position of the window in turn.
    "mix_grpo": {"window_size": 2, "shift_every_num_batches": 4, "stride": 1},
}
CASES: dict[str, dict[str, Any]] = {
    "staleness 0": {},
    "staleness 1, around behaviour": {"max_staleness": 1, "stale_clip": "behaviour"},
    "staleness 1, around proximal": {"max_staleness": 1},
}
"""The `pipeline` section of each case; the last one is the default at staleness 1."""
FRESH, AROUND_BEHAVIOUR, AROUND_PROXIMAL = CASES


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What all runs of the bench have in common."""

    clip_range: float
    learning_rate: float
    num_batches: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One seeded run."""

    algorithm: str
    case: str
    seed: int
    rewards: tuple[float, ...]
    """Mean held-out reward after every `EVALUATION_INTERVAL` batches."""
    silenced: tuple[float, ...]
    """Share of pairs without gradient in each optimizer step of a batch; a mean over the batches but the first."""
    processor_seconds: float


def spec_of(algorithm: str, case: str, seed: int, settings: Settings) -> RunSpec:
    return RunSpec.model_validate(
        COMMON
        | {
            "algorithm": {"name": algorithm, "clip_range": settings.clip_range, **ALGORITHMS[algorithm]},
            "optimizer": {"learning_rate": settings.learning_rate},
            "batch": COMMON["batch"] | {"num_epochs_per_batch": 2},
            "pipeline": CASES[case],
            "evaluation": {"num_samples_per_prompt": 24},
            "seed": seed,
        }
    )


class SilencedPairs:
    """Counts, in each micro-batch that an algorithm computes the loss of, the pairs that get no gradient."""

    def __init__(self, algorithm: Any) -> None:
        self._shares: list[float] = []
        terms = algorithm.terms

        def counting(pairs: ReplayedPairs) -> Any:
            computed = terms(pairs)
            (gradient,) = torch.autograd.grad(computed.loss.sum(), pairs.log_probs, retain_graph=True)
            # A pair without advantage has no gradient in any case.
            self._shares.append(float(((gradient == 0) & (pairs.advantages != 0)).float().mean()))
            return computed

        algorithm.terms = counting

    def take(self, num_steps: int) -> list[float]:
        """The share in each of `num_steps` optimizer steps since the last call."""
        shares = np.array(self._shares).reshape(num_steps, -1).mean(1)
        self._shares.clear()
        return [float(share) for share in shares]


def measure(algorithm: str, case: str, seed: int, settings: Settings) -> Run:
    """Train in this process."""
    spec = spec_of(algorithm, case, seed, settings)
    run = LocalRun(spec, str(SHAPES))
    counted = SilencedPairs(run.trainer._learner._algorithm)  # type: ignore[attr-defined]
    began, rewards, silenced = time.process_time(), [], []
    for number in range(1, settings.num_batches + 1):
        run.train_batch()
        silenced.append(counted.take(spec.algebra.num_optimizer_steps_per_batch))
        if number % EVALUATION_INTERVAL == 0:
            rewards.append(round(held_out(run)[0], 4))
    return Run(
        algorithm=algorithm,
        case=case,
        seed=seed,
        rewards=tuple(rewards),
        silenced=tuple(round(float(share), 3) for share in np.mean(silenced[1:], axis=0)),
        processor_seconds=round(time.process_time() - began, 1),
    )


def measured_apart(algorithm: str, case: str, seed: int, settings: Settings) -> Run:
    """Train in a process of its own."""
    given = json.dumps([algorithm, case, seed, asdict(settings)])
    done = subprocess.run(
        [sys.executable, "-m", "tests.bench.staleness", "--one", given],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return Run(**json.loads(done.stdout.splitlines()[-1]))


def measure_one(algorithm: str, case: str, seed: int, settings: dict[str, Any]) -> None:
    """Train in this process, and print the run as the last line."""
    torch.set_num_threads(1)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    init_process_group(0, 1, "127.0.0.1", port)
    print(json.dumps(asdict(measure(algorithm, case, seed, Settings(**settings)))))


def print_rows(algorithm: str, runs: list[Run]) -> None:
    """A row for each case: means over its seeds, ± their standard deviation."""
    print(f"{algorithm}: pairs without gradient by step; held-out reward every {EVALUATION_INTERVAL} batches")
    for case in CASES:
        own = [run for run in runs if run.case == case]
        rewards = np.array([run.rewards for run in own])
        spread = rewards.std(axis=0, ddof=1) if len(own) > 1 else np.zeros(rewards.shape[1])
        columns = "  ".join(f"{mean:.3f} ± {std:.3f}" for mean, std in zip(rewards.mean(axis=0), spread, strict=True))
        silenced = " ".join(f"{share:4.0%}" for share in np.mean([run.silenced for run in own], axis=0))
        print(f"  {case:30}  {silenced}  {columns}", flush=True)


def mean_reward(runs: list[Run], case: str) -> float:
    """Over the seeds and the evaluations: the area under the learning curve."""
    return float(np.mean([run.rewards for run in runs if run.case == case]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=sorted(ALGORITHMS), default=list(ALGORITHMS))
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--clip-range", type=float, default=1e-4)
    # Twice the demo's, so that short runs learn enough to be told apart.
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--num-batches", type=int, default=16, help=f"a multiple of {EVALUATION_INTERVAL}")
    parser.add_argument("--out", type=Path, default=FILE)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        measure_one(*json.loads(arguments.one))
        return
    settings = Settings(
        clip_range=arguments.clip_range, learning_rate=arguments.learning_rate, num_batches=arguments.num_batches
    )
    runs: list[Run] = []
    failed = []
    for algorithm in arguments.only:
        own = []
        for case in CASES:
            for seed in arguments.seeds:
                own.append(measured_apart(algorithm, case, seed, settings))
                print(f"{algorithm}, {case}, seed {seed}: {own[-1].rewards}", file=sys.stderr, flush=True)
        print_rows(algorithm, own)
        if mean_reward(own, AROUND_PROXIMAL) <= mean_reward(own, AROUND_BEHAVIOUR):
            failed.append(algorithm)
        runs += own
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        document = {"settings": asdict(settings), "runs": [asdict(run) for run in runs]}
        arguments.out.write_text(json.dumps(document, indent=1) + "\n")
    if failed:
        sys.exit(f"a clip around the proximal policy did not help stale samples with {', '.join(failed)}")


if __name__ == "__main__":
    main()
