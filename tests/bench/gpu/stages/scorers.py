"""Scorers on a reward lane: networks of published size on the device, statistics and OCR on the host's cores."""

from functools import partial

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from tests.bench.gpu.bench_report import Row
from tests.bench.gpu.bench_shapes import PROMPT
from tests.bench.gpu.rates import compared, planned_device, timed
from tests.bench.gpu.scorer_checkpoints import FULL_SCORERS, TINY_SCORERS, build_scorer
from tests.bench.gpu.stage_runner import GpuBench, NotMeasurableError
from worker.contracts.names import RewardName
from worker.contracts.prompts import Prompt
from worker.contracts.rewards import RewardSpec
from worker.contracts.scorer_access import NO_ACCESS
from worker.engine.reward.registry import build_reward
from worker.scheduling.profiles.scorer_costs import SCORERS

WORD = "HARBOUR"
"""What is written in the pictures, and asked for by the prompt: OCR takes longer where it finds something."""
ON_THE_HOST = (RewardName.JPEG_COMPRESSIBILITY, RewardName.COLORFULNESS, RewardName.OCR)


def run(bench: GpuBench) -> None:
    side, number = bench.shapes.scorer_side, bench.shapes.scorer_pictures
    pictures = _pictures(number, side)
    case = f"{number} pictures of {side}×{side}"
    for name in TINY_SCORERS if bench.shapes.name == "tiny" else FULL_SCORERS:
        bench.measure(f"{name}, {case}", partial(_network, bench, name, pictures))
    for name in ON_THE_HOST:
        bench.measure(f"{name}, {case}", partial(_on_the_host, bench, name, pictures))


def _pictures(number: int, side: int) -> NDArray[np.uint8]:
    """Faint noise with a word in large letters."""
    noise = np.random.default_rng(0).integers(200, 256, size=(number, side, side, 3), dtype=np.uint8)
    written = []
    for picture in noise:
        image = Image.fromarray(picture)
        ImageDraw.Draw(image).text((side / 10, side / 3), WORD, fill=(0, 0, 0), font_size=side / 8)
        written.append(np.asarray(image))
    return np.stack(written)


def _network(bench: GpuBench, name: RewardName, pictures: NDArray[np.uint8]) -> Row:
    shapes = TINY_SCORERS if bench.shapes.name == "tiny" else FULL_SCORERS
    path = build_scorer(name, shapes[name], bench.folder / "scorers", bench.device)
    settings = {"weights": str(path)}
    if name is RewardName.PICK_SCORE:
        settings["processor"] = str(path)
    row = _scored(bench, RewardSpec.model_validate({"name": name.value, "settings": settings}), pictures)
    device = planned_device()
    if device is not None:
        # As `load_network` chooses: in bf16 on an accelerator.
        rate = device.fp32_flops if bench.device.type == "cpu" else device.peak_flops
        planned = SCORERS[name].flops / (rate * device.generation_efficiency.value)
        row["compared"] = compared(f"{name}, a picture", planned, row["picture_seconds"], "s")
    return row


def _on_the_host(bench: GpuBench, name: RewardName, pictures: NDArray[np.uint8]) -> Row:
    try:
        row = _scored(bench, RewardSpec.model_validate({"name": name.value}), pictures)
    except ImportError as error:
        raise NotMeasurableError(f"{error.name} is not installed") from error
    scorer, megapixels = SCORERS[name], pictures.shape[1] * pictures.shape[2] / 1e6
    planned = scorer.core_seconds + megapixels * scorer.core_seconds_per_megapixel
    return row | {"compared": compared(f"{name}, a picture", planned, row["picture_seconds"], "s")}


def _scored(bench: GpuBench, spec: RewardSpec, pictures: NDArray[np.uint8]) -> Row:
    reward = build_reward(spec, NO_ACCESS)
    prompts = [Prompt(text=f'{PROMPT}, a sign that says "{WORD}"')] * len(pictures)
    row: Row = dict(timed(bench, lambda: reward.score(pictures, prompts)))
    return row | {"picture_seconds": row["seconds"] / len(pictures)}
