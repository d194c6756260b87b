"""What `worker.engine` delivers and what it costs over plain diffusers and torch: `make bench-engine`.

    OMP_NUM_THREADS=1 python -m tests.bench.engine [--only flux wan] [--repeats 7] [--out var/bench/engine.json]

For each model family's tiny checkpoint, and for one transformer large enough that arithmetic outweighs calls:

* rollout: samples per second as drawn for training; overhead of a deterministic fragment over the pipeline's own
  `__call__` (same weights, LoRA, denoising steps, batch and guidance, text encoded beforehand, decoded, as numpy), and
  of the denoising alone, up to the latents;
* training: seconds of an optimizer step; overhead over forward, backward, clipping and AdamW in a plain loop, and the
  same for the first step of a batch, where the replay gate is checked and the KL monitored;
* memory: what each of two ranks holds in ZeRO 0 to 3, and on an accelerator the peak of an optimizer step.

The works are timed in alternation; reported are the median and the quartiles of the ratios within each turn. On a CPU
seconds are the process's own processor time on one thread, which other processes on the machine hardly change, and the
MFU is left out.
"""

import argparse
import json
import logging
import os
import platform
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from deepspeed.accelerator import get_accelerator
from diffusers.utils import logging as diffusers_logging

from tests.bench.engine_cases import Case, large_case, large_size, tiny_case
from tests.bench.engine_loops import Rollouts, Trainings
from tests.bench.engine_memory import PARTS, measure_ranks
from tests.bench.engine_mfu import known_device, rollout_flops, training_flops, utilisation
from tests.bench.engine_pairs import Overhead, Seconds, in_turns, on_cpu
from tests.bench.lane_costs import free_port
from worker.contracts.names import ModelFamily
from worker.engine.devices.selection import device_kind, resolve_device
from worker.engine.trainer.zero.process_group import destroy_process_group, init_process_group
from worker.fixtures.tiny_models.tiny_pipelines import TINY_PIPELINES

FILE = Path(os.environ.get("TANDEM_VAR", "var")) / "bench" / "engine.json"
MIB = 2**20
MAX_REPEATS_LARGE = 5
"""The most turns of the large model, each of which takes long enough for a stable ratio."""


def measure(case: Case, folder: Path, repeats: int) -> dict[str, Any]:
    """The results of one checkpoint, as plain JSON values."""
    path = case.checkpoint(folder)
    num_samples = case.spec.batch.group_size
    rollouts = Rollouts(case, path)
    groups = rollouts.groups()
    stochastic, deterministic, pipeline = in_turns(
        repeats, rollouts.stochastic, rollouts.deterministic, rollouts.pipeline
    )
    latents, pipeline_latents = in_turns(repeats, rollouts.latents, rollouts.pipeline_latents)
    del rollouts
    trainings = Trainings(case, path, groups)
    steady, gated, plain = in_turns(repeats, trainings.steady, trainings.gated, trainings.plain)
    return {
        "case": case.name,
        "num_transformer_parameters": trainings.num_parameters,
        "rollout_samples_per_second": num_samples / stochastic.median,
        "evaluation_samples_per_second": num_samples / deterministic.median,
        "pipeline_samples_per_second": num_samples / pipeline.median,
        "rollout_overhead": asdict(Overhead.of(deterministic.counted, pipeline.counted)),
        "denoising_overhead": asdict(Overhead.of(latents.counted, pipeline_latents.counted)),
        "optimizer_step_seconds": steady.median,
        "plain_step_seconds": plain.median,
        "pairs_per_optimizer_step": case.spec.algebra.num_pairs_per_optimizer_step,
        "training_overhead": asdict(Overhead.of(steady.counted, plain.counted)),
        "gated_overhead": asdict(Overhead.of(gated.counted, plain.counted)),
        "utilisation": mfu(case, stochastic, steady),
        "turns": {
            "rollout": _turns(stochastic, deterministic, pipeline, latents, pipeline_latents),
            "training": _turns(steady, gated, plain),
        },
    }


def mfu(case: Case, rollout: Seconds, optimizer_step: Seconds) -> dict[str, float] | None:
    """The MFU of rollout and training; `None` on a CPU, on an unknown device and for a tiny checkpoint."""
    device = None if on_cpu() else known_device(device_kind(resolve_device(None)))
    if device is None or case.profile is None:
        return None
    num_samples = case.spec.batch.group_size
    return {
        "rollout": utilisation(
            rollout_flops(case.profile, case.spec, num_samples=num_samples), rollout.median, device.peak_flops
        ),
        "training": utilisation(training_flops(case.profile, case.spec), optimizer_step.median, device.peak_flops),
    }


def row_of(result: dict[str, Any]) -> str:
    rollout, denoising, training, gated = (
        Overhead(**result[f"{name}_overhead"]) for name in ("rollout", "denoising", "training", "gated")
    )
    shares = result["utilisation"]
    return (
        f"{result['case']:14}{result['num_transformer_parameters'] / 1e6:8.2f} M"
        f"{result['rollout_samples_per_second']:9.2f}/s  {rollout!s:28}{denoising.median:+7.1%}"
        f"{result['optimizer_step_seconds']:8.3f} s  {training!s:28}{gated.median:+7.1%}"
        + ("" if shares is None else f"  MFU {shares['rollout']:.2f} {shares['training']:.2f}")
    )


def print_memory(rows: list[dict[str, Any]]) -> None:
    print(f"\nMiB held by each of {rows[0]['num_ranks']} ranks, flux large (planned)")
    print("ZeRO" + "".join(f"{part:>22}" for part in (*PARTS, "peak")))
    for row in rows:
        cells = [f"{row[part] / MIB:.1f} ({row['planned'][part] / MIB:.1f})" for part in PARTS]
        cells.append("-" if row["peak"] is None else f"{row['peak'] / MIB:.1f}")
        print(f"{row['stage']:4}" + "".join(f"{cell:>22}" for cell in cells))


def cases(only: list[str] | None) -> Iterator[Case]:
    for family in TINY_PIPELINES:
        if only is None or family.value in only:
            yield tiny_case(family)
    if only is None or "large" in only:
        yield large_case(large_size())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", choices=[*(family.value for family in ModelFamily), "large", "memory"])
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--out", type=Path, default=FILE)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    logging.getLogger("DeepSpeed").setLevel(logging.ERROR)
    init_process_group(0, 1, "127.0.0.1", free_port())
    started, load = time.perf_counter(), os.getloadavg()
    diffusers_logging.set_verbosity_error()
    diffusers_logging.disable_progress_bar()
    print(f"{get_accelerator().device_name()}, {platform.machine()}, {os.cpu_count()} cores, load {load[0]:.1f}")
    print(f"{'checkpoint':14}{'weights':>10}{'rollout':>11}  {'over the pipeline':28}{'latents':>7}", end="")
    print(f"{'step':>10}  {'over a plain loop':28}{'gated':>7}")
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases(arguments.only):
            repeats = arguments.repeats if case.profile is None else min(arguments.repeats, MAX_REPEATS_LARGE)
            results.append(measure(case, Path(folder), repeats))
            print(row_of(results[-1]), flush=True)
        memory = []
        if arguments.only is None or "memory" in arguments.only:
            memory = measure_ranks(large_case(large_size()).checkpoint(Path(folder)))
            print_memory(memory)
    destroy_process_group()
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    document = {"load": [load, os.getloadavg()], "results": results, "memory": memory}
    arguments.out.write_text(json.dumps(document, indent=1) + "\n")
    print(f"\n{time.perf_counter() - started:.0f} s, load {os.getloadavg()[0]:.1f}; {arguments.out}")


def _turns(*works: Seconds) -> list[dict[str, Any]]:
    return [asdict(work) for work in works]


if __name__ == "__main__":
    main()
