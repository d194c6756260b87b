"""What the driver computes from scored fragments: metrics that leave missing scores out, and mixed advantages."""

import numpy as np
import pytest

from worker.contracts.names import RewardMixing
from worker.contracts.prompts import Prompt
from worker.contracts.run_spec import RunSpec
from worker.engine.advantage.group import group_advantages
from worker.engine.control.advantages import AdvantageCache
from worker.engine.control.fragment_store import FragmentRecord, FragmentStore
from worker.engine.control.metrics_reporter import failure_metrics, part_means, reward_metrics
from worker.engine.types import ScoredFragment
from worker.scheduling.core.messages import Fragment, FragmentKey, Purpose

NAMES = ("shape_match", "colorfulness", "jpeg_compressibility")
Parts = dict[str, tuple[float | None, ...]]


def record(group: int, index: int, members: tuple[int, ...], parts: Parts, num_retries: int = 0) -> FragmentRecord:
    fragment = Fragment(FragmentKey(Purpose.TRAIN, 0, group, index), members, 0)
    trained = [parts[name] for name in NAMES[:2]]
    totals = [None if None in scores else sum(filter(None, scores)) for scores in zip(*trained, strict=True)]
    scored = ScoredFragment(
        fragment=fragment,
        rewards=tuple(total or 0.0 for total in totals),
        parts=parts,
        unrewarded=frozenset(index for index, total in enumerate(totals) if total is None),
        num_retries=dict.fromkeys(NAMES, 0) | {NAMES[0]: num_retries},
    )
    return FragmentRecord(
        fragment=fragment, prompt=Prompt(text="a"), prompt_index=0, lane="rollout-0", seeds=(), images=None,
        parts={}, scored=scored,
    )  # fmt: skip


RECORDS = [
    record(0, 0, (0, 1), {NAMES[0]: (0.1, 0.4), NAMES[1]: (0.5, None), NAMES[2]: (None, None)}, num_retries=2),
    record(0, 1, (2, 3), {NAMES[0]: (0.2, 0.9), NAMES[1]: (0.7, 0.3), NAMES[2]: (None, None)}),
]


def cache(mixing: RewardMixing) -> AdvantageCache:
    """The advantages of `RECORDS`, which arrive in reverse order."""
    spec = RunSpec.model_validate(
        {
            "prompts": {"inline": ["a"]},
            "batch": {"num_prompts_per_batch": 1, "group_size": 4, "fragment_size": 2},
            "rewards": [
                {"name": NAMES[0], "weight": 3.0},
                {"name": NAMES[1], "required": False},
                {"name": NAMES[2], "watched": True},
            ],
            "reward_mixing": mixing,
        }
    )
    fragments = FragmentStore()
    for item in reversed(RECORDS):
        fragments.put(item)
    return AdvantageCache(spec, fragments)


def test_means_are_over_the_samples_that_have_the_score() -> None:
    means = reward_metrics(RECORDS)
    assert means["reward/mean"] == pytest.approx((0.6 + 0.9 + 1.2) / 3)
    assert means["reward/part/colorfulness"] == pytest.approx(0.5)
    assert "reward/part/jpeg_compressibility" not in means
    assert part_means(RECORDS, "{name}")["shape_match"] == pytest.approx(0.4)


def test_a_batch_without_any_complete_reward_has_no_mean() -> None:
    alone = [record(0, 0, (0, 1), {NAMES[0]: (0.1, 0.4), NAMES[1]: (None, None), NAMES[2]: (1.0, 1.0)})]
    assert set(reward_metrics(alone)) == {"reward/part/shape_match", "reward/part/jpeg_compressibility"}


def test_missing_scores_and_repeated_calls_are_counted_by_reward() -> None:
    assert failure_metrics(RECORDS) == {
        "reward/missing/colorfulness": 1.0,
        "reward/missing/jpeg_compressibility": 4.0,
        "reward/retries/shape_match": 2.0,
    }


def test_advantages_follow_the_specs_mixing_in_member_order() -> None:
    # The missing score of the second member counts as the mean of the others.
    filled, present = [0.5, 0.5, 0.7, 0.3], [0.5, 0.7, 0.3]
    shape = [0.1, 0.4, 0.2, 0.9]
    sums = [3 * one + other for one, other in zip(shape, filled, strict=True)]
    spread = float(np.std([sums[0], *sums[2:]]))
    assert spread > np.std(sums)
    summed = group_advantages(sums, clip=5.0, std=spread)
    assert cache(RewardMixing.SUM).of_group(0, 0).advantages == pytest.approx(summed.advantages)
    one, other = group_advantages(shape, clip=5.0), group_advantages(filled, clip=5.0, std=float(np.std(present)))
    expected = [0.75 * a + 0.25 * b for a, b in zip(one.advantages, other.advantages, strict=True)]
    assert cache(RewardMixing.NORMALISED).of_group(0, 0).advantages == pytest.approx(expected)
