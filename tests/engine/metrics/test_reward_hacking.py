"""The detection of reward hacking: quiet in healthy runs, awake in hacked ones, both held by simulation."""

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from worker.engine.metrics.reward_hacking import (
    MIN_BATCHES,
    MIN_ERRORS,
    Finding,
    HackingDetector,
    fitted_changes,
    is_hacking,
)

Array = NDArray[np.float64]
RUN_BATCHES = 200
NUM_RUNS = 600
NUM_MONITORED = 2


def noise(kind: str, *shape: int) -> Array:
    """Noise of the batches' means, with a standard deviation of about 1, along the last axis."""
    rng = np.random.default_rng(7)
    white = rng.normal(size=shape)
    if kind == "heavy tails":
        return rng.standard_t(3, size=shape) / np.sqrt(3)
    if kind == "prompts in turn":
        # A set of prompts that is gone through every eight batches, some of them harder than others.
        hardness = rng.normal(size=(*shape[:-1], 8))
        return 0.7 * (np.take(hardness, np.arange(shape[-1]) % 8, axis=-1) + white)
    if kind == "autocorrelated":
        for batch in range(1, shape[-1]):
            white[..., batch] = 0.5 * white[..., batch - 1] + np.sqrt(0.75) * white[..., batch]
    return white


def alarms(optimised: Array, monitored: Array) -> NDArray[np.bool_]:
    """By run: whether the rule, applied after every batch, raised an alarm at least once. Both are runs × batches."""
    raised = np.zeros(len(optimised), dtype=bool)
    pair = np.stack([optimised, monitored])
    for num_batches, bound in MIN_ERRORS.items():
        if num_batches <= pair.shape[-1]:
            changes, errors = fitted_changes(sliding_window_view(pair, num_batches, axis=-1))
            raised |= is_hacking(changes, errors, bound).any(axis=-1)
    return raised


@pytest.mark.parametrize("kind", ["white", "heavy tails", "prompts in turn", "autocorrelated"])
def test_at_most_one_healthy_run_in_a_hundred_gets_an_alarm(kind: str) -> None:
    """Healthy and at its most tempting: the optimised reward rises steeply all the time, the monitored ones stay."""
    optimised = np.broadcast_to(np.arange(RUN_BATCHES, dtype=np.float64), (NUM_RUNS, RUN_BATCHES))
    raised = np.zeros(NUM_RUNS, dtype=bool)
    for monitored in noise(kind, NUM_MONITORED, NUM_RUNS, RUN_BATCHES):
        raised |= alarms(optimised, monitored)
    assert raised.mean() <= 0.01


@pytest.mark.parametrize(("fall", "during"), [(3.0, 100), (3.0, 60), (3.0, 30), (5.0, 20), (8.0, 20)])
def test_of_a_hundred_hacked_runs_at_least_ninety_five_get_an_alarm(fall: float, during: int) -> None:
    """After 40 healthy batches the monitored reward falls by some standard deviations of a batch's noise."""
    ramp = fall * np.clip((np.arange(60 + during) - 40) / during, 0, 1)
    optimised, monitored = noise("white", 2, NUM_RUNS, len(ramp))
    assert alarms(optimised + ramp, monitored - ramp).mean() >= 0.95


def run_detector(optimised: Array, monitored: Array) -> tuple[list[Finding], HackingDetector]:
    """A detector that was given these means batch by batch, and its findings."""
    detector = HackingDetector(["judge"])
    findings = []
    for one, other in zip(optimised, monitored, strict=True):
        findings += detector.add({"reward/mean": one, "reward/part/judge": other})
    return findings, detector


def test_a_suspicion_comes_once_and_with_its_evidence() -> None:
    steps = np.arange(40)
    scatter = 0.1 * noise("white", 2, 40)
    findings, detector = run_detector(0.10 * steps + scatter[0], -0.05 * steps + scatter[1])
    (finding,) = findings
    assert finding.suspected and finding.monitored == "judge" and detector.is_suspected
    assert finding.num_batches >= MIN_BATCHES
    assert finding.optimised_change.change == pytest.approx(0.10 * (finding.num_batches - 1), abs=0.3)
    assert finding.monitored_change.change == pytest.approx(-0.05 * (finding.num_batches - 1), abs=0.3)
    assert 0 < finding.monitored_change.standard_error < 0.2


def test_rewards_that_rise_together_or_fall_together_are_not_suspected() -> None:
    steps = np.arange(60)
    scatter = 0.1 * noise("white", 2, 60)
    for optimised, monitored in [(0.1, 0.05), (-0.1, -0.05), (-0.1, 0.05), (0.1, 0.0), (0.0, -0.1)]:
        findings, detector = run_detector(optimised * steps + scatter[0], monitored * steps + scatter[1])
        assert findings == []
        assert not detector.is_suspected


def test_a_monitored_reward_that_doubles_is_no_hacking_however_it_scatters() -> None:
    """As seen: a judge rose from 0.2 to 0.4 within 17 batches, and an earlier rule raised an alarm at three of them."""
    judge = 0.2 + 0.2 * np.arange(17) / 16 + 0.05 * noise("white", 17)
    findings, _ = run_detector(np.linspace(0.3, 0.6, 17), judge)
    assert findings == []


def test_the_suspicion_ends_when_the_monitored_reward_has_recovered() -> None:
    steps = np.arange(200)
    scatter = 0.1 * noise("white", 2, 200)
    findings, detector = run_detector(0.1 * steps + scatter[0], 0.05 * np.abs(steps - 40) + scatter[1])
    assert [finding.suspected for finding in findings] == [True, False]
    assert not detector.is_suspected


def test_a_line_without_scatter_has_no_error() -> None:
    change, error = fitted_changes(np.linspace(1.0, 2.0, MIN_BATCHES))
    assert [float(change), float(error)] == pytest.approx([1.0, 0.0], abs=1e-9)


def test_batches_without_the_monitored_reward_are_left_out() -> None:
    detector = HackingDetector(["judge"])
    for step in range(30):
        assert detector.add({"reward/mean": 0.1 * step}) == []
    assert not detector.is_suspected


def test_a_cleared_detector_has_forgotten_all_batches() -> None:
    steps = np.arange(40.0)
    _, detector = run_detector(0.1 * steps, -0.05 * steps)
    assert detector.is_suspected
    detector.clear()
    assert not detector.is_suspected
    assert detector.add({"reward/mean": 9.0, "reward/part/judge": -9.0}) == []
