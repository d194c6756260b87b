"""What a run keeps in Ray's object store: reference values, and fewer lanes never hold more. What the engine really
sends is compared in `tests/engine/ray/test_store_contents_held.py`."""

from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from worker.contracts.run_spec import RunSpec
from worker.scheduling.planning.store_contents import store_contents, trajectory_bytes
from worker.scheduling.planning.workload import Workload

PRESETS = {path.stem: path for path in sorted((Path(__file__).parents[3] / "deploy" / "presets").glob("*.yaml"))}


def spec_of(preset: str, **sections: Any) -> RunSpec:
    document = yaml.safe_load(PRESETS[preset].read_text())["spec"]
    document["prompts"] = {"inline": [f"prompt {index}" for index in range(64)]}
    return RunSpec.model_validate({**document, **sections})


SPECS = {preset: spec_of(preset) for preset in PRESETS}


@pytest.mark.parametrize(
    ("tuned", "published"),
    [
        ({"tuning": "lora", "lora": {"rank": 32, "alpha": 64}}, 523e6),
        ({"tuning": "full", "deepspeed": {"config": "zero2"}}, 23.8e9),
    ],
)
def test_the_store_holds_a_version_more_than_there_are_open_batches(tuned: dict[str, Any], published: float) -> None:
    for max_staleness, num_versions in ((0, 2), (1, 3)):
        spec = spec_of("flux", **tuned, ema={"decay": 0.0}, pipeline={"max_staleness": max_staleness})
        held = store_contents(spec, Workload.of(spec))
        assert held.versions == pytest.approx(num_versions * published, rel=0.01)


def test_a_clip_of_hunyuan_video_takes_tens_of_megabytes_and_its_batch_gigabytes() -> None:
    """DanceGRPO trains 9 of 15 steps drawn at random: up to 16 states, and the means of all, at 806,400 values."""
    spec = SPECS["hunyuan_video"]
    work = Workload.of(spec)
    values = 14 * 30 * 30 * 64
    assert trajectory_bytes(spec, work) == 4 * (25 * values + 9)
    held = store_contents(spec, work)
    assert held.trajectories == spec.algebra.num_trajectories * 4 * (25 * values + 9)
    assert held.samples == 3 * 53 * 480 * 480 * (2 * spec.algebra.num_trajectories + spec.max_evaluated_samples)


@pytest.mark.parametrize("preset", PRESETS)
@given(num_lanes=st.integers(1, 64))
def test_fewer_lanes_never_hold_more(preset: str, num_lanes: int) -> None:
    spec = SPECS[preset]
    work = Workload.of(spec)
    fewer, more, whole = (store_contents(spec, work, num_lanes=number) for number in (num_lanes, num_lanes + 1, None))
    assert fewer.total <= more.total <= whole.total
    assert fewer.versions == whole.versions, "every node with a lane pulls the versions"
