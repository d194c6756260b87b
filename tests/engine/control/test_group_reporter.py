"""What became of the groups of a batch is reported once, when the last of them is complete."""

from dataclasses import replace
from typing import Any

import pytest

from tests.engine.control.conftest import RecordingClient
from worker.contracts.algebra import BatchAlgebra, BatchSpec
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.contracts.sections import SamplingSpec
from worker.engine.control.advantages import AdvantageCache
from worker.engine.control.fragment_store import FragmentRecord, FragmentStore
from worker.engine.control.group_reporter import GroupReporter
from worker.engine.types import ScoredFragment
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

SPEC = RunSpec.model_validate(
    {
        "prompts": {"inline": ["a", "b"]},
        "rewards": [{"name": "shape_match"}],
        "batch": {"num_prompts_per_batch": 2, "group_size": 4, "fragment_size": 2},
        "sampling": {"num_denoising_steps": 4},
    }
)
ALGEBRA = BatchAlgebra.resolve(BatchSpec(num_prompts_per_batch=2, group_size=4), SamplingSpec(num_denoising_steps=4))


class Batch:
    """Scores fragments of a batch in any order, as the executor does."""

    def __init__(self, client: RecordingClient) -> None:
        self.fragments = FragmentStore()
        self.reporter = GroupReporter(client, self.fragments, AdvantageCache(SPEC, self.fragments), ALGEBRA)  # type: ignore[arg-type]

    def generate(self, group: int, index: int, *, draw: int = 0, purpose: Purpose = Purpose.TRAIN) -> Fragment:
        fragment = Fragment(FragmentKey(purpose, 0, group, index), (2 * index, 2 * index + 1), 0)
        fragment = replace(fragment, draw=draw)
        self.reporter.generating([fragment])
        return fragment

    def score(self, fragment: Fragment, rewards: tuple[float, float], **scored: Any) -> None:
        answer = ScoredFragment(fragment=fragment, rewards=rewards, **{"parts": {"shape_match": rewards}, **scored})
        record = FragmentRecord(
            fragment=fragment,
            prompt=Prompt(text="a prompt"),
            prompt_index=7 + fragment.key.group,
            lane="rollout-0",
            seeds=(0, 1),
            images=None,
            parts={},
            scored=answer,
        )
        self.fragments.put(record)
        self.reporter.scored(fragment)


@pytest.fixture
def batch(client: RecordingClient) -> Batch:
    return Batch(client)


def test_a_batch_is_reported_once_with_the_prompt_mean_and_spread_of_each_group(
    batch: Batch, client: RecordingClient
) -> None:
    batch.score(batch.generate(1, 0), (0.5, 0.5))
    batch.score(batch.generate(0, 1), (1.0, 1.0))
    batch.score(batch.generate(0, 0), (0.0, 0.0))
    assert client.events == []
    batch.score(batch.generate(1, 1), (0.5, 0.5))
    (event,) = client.events
    first, second = event.groups
    assert event.batch == 1
    assert (first.prompt_index, first.mean_reward, first.reward_std, first.has_spread) == (7, 0.5, 0.5, True)
    assert (second.prompt_index, second.mean_reward, second.reward_std, second.has_spread) == (8, 0.5, 0.0, False)


def test_a_fragment_that_a_lost_lane_took_along_counts_as_repeated_and_a_further_draw_does_not(
    batch: Batch, client: RecordingClient
) -> None:
    for _ in range(3):
        lost = batch.generate(0, 0)
    batch.score(lost, (0.0, 1.0))
    batch.score(batch.generate(0, 1), (0.0, 1.0))
    batch.generate(1, 0)
    for index in (0, 1):
        batch.score(batch.generate(1, index, draw=1), (0.0, 1.0))
    first, second = client.events[0].groups
    assert (first.num_repeated_fragments, first.num_dropped_draws) == (2, 0)
    assert (second.num_repeated_fragments, second.num_dropped_draws) == (0, 1)


def test_samples_without_a_score_are_counted_and_left_out_of_the_mean(batch: Batch, client: RecordingClient) -> None:
    missing: dict[str, Any] = {"parts": {"shape_match": (1.0, None)}, "unrewarded": frozenset({1})}
    batch.score(batch.generate(0, 0), (1.0, 99.0), **missing)
    batch.score(batch.generate(0, 1), (0.0, 0.5))
    for index in (0, 1):
        batch.score(batch.generate(1, index), (0.0, 0.0))
    assert (client.events[0].groups[0].num_missing, client.events[0].groups[0].mean_reward) == (1, 0.5)


def test_after_a_rewind_the_batch_is_counted_from_its_beginning(batch: Batch, client: RecordingClient) -> None:
    batch.score(batch.generate(0, 0), (0.0, 1.0))
    batch.score(batch.generate(0, 1), (0.0, 1.0))
    batch.fragments.clear()
    batch.reporter.clear()
    for group in (1, 0):
        assert client.events == []
        for index in (0, 1):
            batch.score(batch.generate(group, index), (0.0, 1.0))
    assert [group.num_repeated_fragments for group in client.events[0].groups] == [0, 0]


def test_evaluations_are_not_counted(batch: Batch) -> None:
    batch.generate(0, 0, purpose=Purpose.EVALUATE)
    assert not batch.reporter._num_calls
