"""Groups without spread on real Ray, with a reward of two values that many small groups get for all their members."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.engine.driving import Driven
from tests.engine.emulated.cases import Case
from tests.engine.emulated.run_case import emulate
from tests.engine.ray.reported import published, replayed, shown_seeds
from tests.engine.reward.remote.conftest import LOCAL_ACCESS, start_server
from tests.engine.telemetry.ingest_server import Ingest
from worker.contracts.metric_names import Metric
from worker.contracts.run_spec import RunSpec
from worker.engine.local import LocalRun
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose
from worker.scheduling.simulator.synthetic_spread import has_synthetic_spread

pytestmark = [pytest.mark.ray, pytest.mark.timeout(600)]

PARITY_SCORER = Path(__file__).parents[1] / "reward" / "remote" / "parity_scorer.py"
NUM_BATCHES = 3
NUM_GROUPS, NUM_EPOCHS = 4, 2
NUM_STEPS = NUM_GROUPS * NUM_EPOCHS
"""Optimizer steps of a batch that skips none. Of one group each, about a quarter is skipped; which ones differs between
kinds of processors, since the scorer's rewards are one bit of a picture."""

Drive = Callable[..., Driven]
MakeSpec = Callable[..., RunSpec]


@pytest.fixture(scope="module")
def scorer_url() -> Iterator[str]:
    process, url = start_server("--scorer", str(PARITY_SCORER), token="")
    yield url
    process.terminate()
    process.wait(10)


def spec_of(make_spec: MakeSpec, scorer_url: str, **pipeline: Any) -> RunSpec:
    return make_spec(
        prompts={"inline": ["a red square", "a blue circle", "a green circle", "a red circle"]},
        rewards=[{"name": "remote", "settings": {"url": scorer_url}}],
        batch={
            "num_prompts_per_batch": NUM_GROUPS,
            "group_size": 2,
            "fragment_size": 1,
            "num_minibatches": NUM_GROUPS,
            "num_epochs_per_batch": NUM_EPOCHS,
            "filter_groups": True,
            "max_resamples": 1,
        },
        num_batches=NUM_BATCHES,
        pipeline={"deterministic": True} | pipeline,
        evaluation={"every_num_batches": None},
        checkpoint={"every_num_batches": 1, "num_kept": 4},
        lanes={"num_rollout": 0 if "placement" in pipeline else 1},
    )


def curve(driven: Driven, metric: Metric) -> dict[int, float]:
    """The metric's value by batch."""
    reported = driven.ingest.of_type("metrics")
    return {event["batch"]: event["values"][metric] for event in reported if metric in event["values"]}


def last_step(driven: Driven) -> int:
    """The number of optimizer steps that the run reports at its end."""
    return int(driven.ingest.of_type("metrics")[-1]["optimizer_step"])


@pytest.fixture(scope="module")
def reference(
    make_spec: MakeSpec, scorer_url: str, tiny_checkpoint: str, process_group: None
) -> dict[str, dict[int, Any]]:
    """What a run in one process draws, drops and trains."""
    local = LocalRun(spec_of(make_spec, scorer_url), tiny_checkpoint, access=LOCAL_ACCESS)
    found: dict[str, dict[int, Any]] = {"published": {0: local.trainer.version(0).sha256}}
    found |= {"resampled": {}, "seeds": {}, "steps": {}}
    for number in range(1, NUM_BATCHES + 1):
        before = local.trainer._deepspeed_engine.global_steps
        groups = local.train_batch().groups
        found["published"][number] = local.trainer.version(number).sha256
        found["resampled"][number] = sum(group.generated[0].fragment.draw for group in groups)
        found["seeds"][number] = {seed for group in groups for made in group.generated for seed in made.seeds}
        found["steps"][number] = local.trainer._deepspeed_engine.global_steps - before
    assert any(found["resampled"].values()), "some groups are drawn again"
    assert 0 < sum(found["steps"].values()) < NUM_STEPS * NUM_BATCHES, "some optimizer steps are skipped, not all"
    return found


def check_against(driven: Driven, reference: dict[str, dict[int, Any]], *, batches: range) -> None:
    assert curve(driven, Metric.RESAMPLED_GROUPS) == {batch: reference["resampled"][batch] for batch in batches}
    skipped = {batch: NUM_STEPS - reference["steps"][batch] for batch in batches}
    assert curve(driven, Metric.SKIPPED_OPTIMIZER_STEPS) == skipped
    assert shown_seeds(driven) == {batch: reference["seeds"][batch] for batch in batches}
    versions = range(batches[0] - 1, batches[-1] + 1)
    assert published(driven) == {version: reference["published"][version] for version in versions}
    assert last_step(driven) == sum(reference["steps"][batch] for batch in range(1, batches[-1] + 1))


@pytest.mark.parametrize(
    "pipeline",
    [pytest.param(pipeline, marks=pytest.mark.slow) for pipeline in ({"tag": "greedy"}, {"placement": "colocated"})],
    ids=str,
)
def test_every_mode_draws_drops_and_skips_the_groups_that_a_local_run_does(
    drive: Drive, make_spec: MakeSpec, scorer_url: str, reference: dict[str, dict[int, Any]], pipeline: dict[str, Any]
) -> None:
    driven = drive(spec_of(make_spec, scorer_url, **pipeline), scorer_access=LOCAL_ACCESS)
    assert driven.finish() == 0
    assert driven.states() == ["running", "completed"]
    check_against(driven, reference, batches=range(1, NUM_BATCHES + 1))
    assert replayed(driven).scheduler.state.batches_completed == NUM_BATCHES


@pytest.mark.slow
def test_a_run_resumed_at_a_batch_boundary_keeps_its_counts(
    drive: Drive, make_spec: MakeSpec, scorer_url: str, reference: dict[str, dict[int, Any]], tmp_path: Path
) -> None:
    spec = spec_of(make_spec, scorer_url)
    first = drive(spec, checkpoints=f"file://{tmp_path}", scorer_access=LOCAL_ACCESS)
    assert first.finish() == 0
    checkpoint = next(event for event in first.ingest.of_type("checkpoint") if event["batch"] == 1)
    first.ingest.events.clear()
    resumed = drive(spec, resume_from=checkpoint["uri"], scorer_access=LOCAL_ACCESS)
    assert resumed.finish() == 0
    check_against(resumed, reference, batches=range(checkpoint["batch"] + 1, NUM_BATCHES + 1))


@pytest.mark.slow
def test_emulated_lanes_train_what_the_synthetic_groups_leave(ray_address: str, ingest: Ingest, tmp_path: Path) -> None:
    """The driver takes no optimizer step where pairs are missing, so each commit says how many were skipped."""
    case = Case(8, "gap + tag search", is_mixed=True, num_batches=2)
    emulate(
        case, ray_address, ingest, tmp_path, share_without_spread=0.6, batch={"filter_groups": True, "max_resamples": 1}
    )
    values = [event["values"] for event in ingest.of_type("metrics")]
    draws = {
        (batch, group, draw): has_synthetic_spread(
            Fragment(FragmentKey(Purpose.TRAIN, batch, group, 0), (), 0, draw), 0.6
        )
        for batch in range(case.num_batches)
        for group in range(case.spec.algebra.num_groups)
        for draw in range(2)
    }
    first = {at[:2]: spread for at, spread in draws.items() if at[2] == 0}
    dropped = [sum(not spread for (batch, _), spread in first.items() if batch == number) for number in (0, 1)]
    assert [each[Metric.RESAMPLED_GROUPS] for each in values if Metric.RESAMPLED_GROUPS in each] == dropped
    left = [
        sum(not first[batch, group] and not draws[batch, group, 1] for batch, group in first if batch == number)
        for number in (0, 1)
    ]
    shares = [each[Metric.ZERO_STD_GROUPS] for each in values if Metric.ZERO_STD_GROUPS in each]
    assert shares == [number / case.spec.algebra.num_groups for number in left]
