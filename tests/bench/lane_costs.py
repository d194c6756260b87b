"""What each kind of work costs one CPU lane: the engine's own classes in one process, without Ray or messages.

    OMP_NUM_THREADS=1 nice -n 5 python -m tests.bench.lane_costs [--repeats 15]

The spec is the demo's shapes spec with fragments and micro-batches of several sizes. Seconds are the process's own
processor time, which hardly depends on other work on the machine, so they stand for the wall time of a core that does
nothing else. The median of the repeats counts; a line through the sizes gives the seconds per call and per unit. The
priors for CPU cores in `worker/scheduling/profiles` come from here.
"""

import argparse
import os
import socket
import statistics
import time
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import torch
import yaml

from tests.bench.real_runs import PRESET, SHAPES
from worker.contracts.run_spec import RunSpec
from worker.engine.advantage.group import group_advantages
from worker.engine.reward.scorer import Scorer
from worker.engine.rollout.sampler import Sampler
from worker.engine.trainer.rank import TrainerRank
from worker.engine.trainer.zero.process_group import destroy_process_group, init_process_group
from worker.engine.types import GeneratedFragment, GenerationRequest, GroupBatch
from worker.scheduling.core.batching import num_micro_batches
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

FRAGMENT_SIZES = (1, 2, 4, 8, 16)
"""From a single trajectory to the demo's whole group."""
MICRO_BATCH_SIZES = (8, 16, 48)
"""Pairs in a micro-batch; 48 is the demo's."""
_NUM_WARM_UP = 3
"""Calls that are not timed: they allocate memory and fill caches."""


def spec_of(micro_batch_size: int) -> RunSpec:
    """The demo's spec with one group as a mini-batch, so that each repeat ends with an optimizer step."""
    document = yaml.safe_load(PRESET.read_text())["spec"]
    changes = {"micro_batch_size": micro_batch_size, "num_prompts_per_batch": 1}
    return RunSpec.model_validate(document | {"batch": document["batch"] | changes})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Timer:
    """Times calls by the processor time of this process."""

    def __init__(self, repeats: int) -> None:
        self._repeats = repeats

    def __call__(self, *work: Callable[[], object]) -> list[float]:
        """Median processor seconds of each of `work`; the calls are interleaved."""
        taken: list[list[float]] = [[] for _ in work]
        for _ in range(_NUM_WARM_UP + self._repeats):
            for each, times in zip(work, taken, strict=True):
                start = time.process_time()
                each()
                times.append(time.process_time() - start)
        return [statistics.median(times[_NUM_WARM_UP:]) for times in taken]


def line(sizes: Sequence[int], seconds: Sequence[float]) -> str:
    """Seconds per call and per unit, fitted by least squares of relative errors."""
    per_unit, per_call = np.polyfit(sizes, seconds, 1, w=1 / np.array(seconds))
    return f"{per_call * 1e3:6.2f} ms + {per_unit * 1e3:6.3f} ms each"


def generated(rollout: Sampler, spec: RunSpec, size: int) -> GeneratedFragment:
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, 0, 0), tuple(range(size)), 0)
    prompt = spec.prompts.inline[0]
    return rollout.generate(GenerationRequest(fragment=fragment, prompt=prompt, run_seed=spec.seed, prompt_index=0))


def report_generation(timer: Timer, rollout: Sampler, spec: RunSpec) -> None:
    scorer = Scorer(spec.rewards)
    made = [generated(rollout, spec, size) for size in FRAGMENT_SIZES]
    generating = timer(*(partial(generated, rollout, spec, size) for size in FRAGMENT_SIZES))
    scoring = timer(*(partial(scorer.score, one.fragment, one.prompt, one.images) for one in made))
    for size, generate, score in zip(FRAGMENT_SIZES, generating, scoring, strict=True):
        print(f"{size:3d} trajectories: generate {generate * 1e3:7.2f} ms, score {score * 1e3:6.2f} ms")
    print(f"generate, a trajectory  {line(FRAGMENT_SIZES, generating)}")
    print(f"score, a sample         {line(FRAGMENT_SIZES, scoring)}")


def report_training(timer: Timer, trainer: TrainerRank, spec: RunSpec, group: GroupBatch) -> float:
    """Time and print a bundle of one group; returns the seconds of one micro-batch."""
    num_pairs = spec.algebra.num_pairs_per_optimizer_step
    num_units = num_micro_batches(spec.algebra, 1, world_size=1, tsp=True)
    accumulate, commit = timer(
        partial(trainer.accumulate, [group], num_pairs_total=num_pairs, fresh=False), trainer.commit
    )
    size = spec.batch.micro_batch_size
    print(f"{num_units} micro-batches of {size} pairs {accumulate * 1e3:7.2f} ms, commit {commit * 1e3:5.2f} ms")
    return accumulate / num_units


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    timer = Timer(parser.parse_args().repeats)
    torch.set_num_threads(1)
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores, torch {torch.__version__}")
    init_process_group(0, 1, "127.0.0.1", free_port())
    specs = [spec_of(size) for size in MICRO_BATCH_SIZES]
    trainers = [TrainerRank(spec, str(SHAPES), 0, 1) for spec in specs]
    rollout = Sampler.load(specs[0], str(SHAPES))
    adapter = trainers[0].version(0)
    rollout.pull(adapter)
    report_generation(timer, rollout, specs[0])
    (publish,) = timer(partial(trainers[0].version, 0))
    (pull,) = timer(partial(rollout.pull, adapter))
    print(f"publish {publish * 1e3:.2f} ms, pull {pull * 1e3:.2f} ms, of {adapter.num_bytes} bytes")
    made = generated(rollout, specs[0], specs[0].batch.group_size)
    assert made.trajectories is not None
    advantages = group_advantages([float(image.mean()) for image in made.images], clip=5.0).advantages
    group = GroupBatch(batch=0, group=0, trajectories=(made.trajectories,), advantages=advantages)
    training = [report_training(timer, *both, group) for both in zip(trainers, specs, strict=True)]
    print(f"micro-batch, a pair     {line(MICRO_BATCH_SIZES, training)}")
    destroy_process_group()


if __name__ == "__main__":
    main()
