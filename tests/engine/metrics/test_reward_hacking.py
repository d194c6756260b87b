"""The detection of reward hacking: the trained reward rises and a watched one falls, both significantly."""

import numpy as np

from worker.engine.metrics.reward_hacking import NUM_BATCHES, HackingDetector, trend

NOISE = np.tile([0.0, 0.01, -0.01, 0.005, -0.005], 20)


def run_detector(trained: np.ndarray, watched: np.ndarray) -> tuple[list[str], HackingDetector]:
    """A detector that was given these means batch by batch, and its warnings."""
    detector = HackingDetector(["judge"])
    warnings = []
    for one, other in zip(trained, watched, strict=True):
        warnings += detector.add({"reward/mean": one, "reward/part/judge": other})
    return warnings, detector


def test_a_rise_with_a_falling_watched_reward_gives_one_warning() -> None:
    steps = np.arange(20)
    warnings, detector = run_detector(0.1 * steps + NOISE[:20], -0.05 * steps + NOISE[:20])
    assert len(warnings) == 1
    assert "watched `judge` fell" in warnings[0]
    assert detector.is_suspected


def test_rewards_that_rise_together_or_fall_together_are_not_suspected() -> None:
    steps = np.arange(20)
    for trained, watched in [(0.1, 0.05), (-0.1, -0.05), (-0.1, 0.05), (0.1, 0.0), (0.0, -0.1)]:
        warnings, detector = run_detector(trained * steps + NOISE[:20], watched * steps + NOISE[:20])
        assert warnings == []
        assert not detector.is_suspected


def test_the_suspicion_ends_when_the_watched_reward_stops_falling() -> None:
    steps = np.arange(40)
    _, detector = run_detector(0.1 * steps + NOISE[:40], -0.05 * np.minimum(steps, 15) + NOISE[:40])
    assert not detector.is_suspected


def test_noise_and_short_histories_are_no_trend() -> None:
    assert trend([0.0] * (2 * NUM_BATCHES - 1)) == 0.0
    assert trend(list(NOISE[: 2 * NUM_BATCHES])) == 0.0


def test_batches_without_the_watched_reward_are_left_out() -> None:
    detector = HackingDetector(["judge"])
    for step in range(30):
        detector.add({"reward/mean": 0.1 * step})
    assert not detector.is_suspected


def test_a_cleared_detector_has_forgotten_all_batches() -> None:
    _, detector = run_detector(0.1 * np.arange(20) + NOISE[:20], -0.05 * np.arange(20) + NOISE[:20])
    detector.clear()
    assert not detector.is_suspected
    assert detector.add({"reward/mean": 9.0, "reward/part/judge": -9.0}) == []
