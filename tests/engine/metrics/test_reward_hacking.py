"""The rule that suspects reward hacking: trained reward up, watched reward down, both beyond the noise."""

import numpy as np

from worker.engine.metrics.reward_hacking import NUM_BATCHES, HackingDetector, trend

NOISE = np.tile([0.0, 0.01, -0.01, 0.005, -0.005], 20)


def told(trained: np.ndarray, watched: np.ndarray) -> tuple[list[str], HackingDetector]:
    watch = HackingDetector(["judge"])
    sentences = []
    for one, other in zip(trained, watched, strict=True):
        sentences += watch.add({"reward/mean": one, "reward/part/judge": other})
    return sentences, watch


def test_a_rise_with_a_falling_watched_reward_is_told_once() -> None:
    steps = np.arange(20)
    sentences, watch = told(0.1 * steps + NOISE[:20], -0.05 * steps + NOISE[:20])
    assert len(sentences) == 1
    assert "watched `judge` fell" in sentences[0]
    assert watch.is_suspected


def test_rewards_that_rise_together_or_fall_together_are_not_suspected() -> None:
    steps = np.arange(20)
    for trained, watched in [(0.1, 0.05), (-0.1, -0.05), (-0.1, 0.05), (0.1, 0.0), (0.0, -0.1)]:
        sentences, watch = told(trained * steps + NOISE[:20], watched * steps + NOISE[:20])
        assert sentences == []
        assert not watch.is_suspected


def test_the_suspicion_ends_when_the_watched_reward_stops_falling() -> None:
    steps = np.arange(40)
    _, watch = told(0.1 * steps + NOISE[:40], -0.05 * np.minimum(steps, 15) + NOISE[:40])
    assert not watch.is_suspected


def test_noise_and_short_histories_are_no_trend() -> None:
    assert trend([0.0] * (2 * NUM_BATCHES - 1)) == 0.0
    assert trend(list(NOISE[: 2 * NUM_BATCHES])) == 0.0


def test_batches_without_the_watched_reward_are_left_out() -> None:
    watch = HackingDetector(["judge"])
    for step in range(30):
        watch.add({"reward/mean": 0.1 * step})
    assert not watch.is_suspected


def test_a_watch_begins_anew_after_a_checkpoint() -> None:
    _, watch = told(0.1 * np.arange(20) + NOISE[:20], -0.05 * np.arange(20) + NOISE[:20])
    watch.clear()
    assert not watch.is_suspected
    assert watch.add({"reward/mean": 9.0, "reward/part/judge": -9.0}) == []
