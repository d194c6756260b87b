"""What further lanes would gain, by the planner's own simulations on measured costs."""

from typing import Any

import pytest

from worker.contracts.events import WorkCost
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.scheduling.borrowing import lane_forecast as forecast_module
from worker.scheduling.borrowing.lane_forecast import BorrowQuestion, IdleLanes, LaneForecast, forecasts
from worker.scheduling.core.costs import CostKind

ROLLOUT, REWARD = LaneRole.ROLLOUT, LaneRole.REWARD
ROLES = {"rollout-0": ROLLOUT, "rollout-1": ROLLOUT, "trainer-0": LaneRole.TRAINER, "reward-0": REWARD}


def spec_of(batch: dict[str, int] | None = None, **pipeline: Any) -> RunSpec:
    sizes = {"num_prompts_per_batch": 8, "group_size": 8, "micro_batch_size": 8, "fragment_size": 4}
    return RunSpec.model_validate(
        {
            "prompts": {"inline": [f"prompt {number}" for number in range(8)]},
            "rewards": [{"name": "colorfulness"}],
            "batch": {**sizes, **(batch or {})},
            "pipeline": {"placement": "disaggregated", "gap": True, **pipeline},
            "lanes": {"num_rollout": 2, "num_trainer": 1, "num_reward": 1},
        }
    )


def measured(generate: float = 1.0, accumulate: float = 0.1, score: float = 0.001) -> tuple[WorkCost, ...]:
    """Costs of the lanes by unit, as a run reports them."""
    seconds = {
        CostKind.GENERATE: (ROLLOUT, generate, 4),
        CostKind.ACCUMULATE: (LaneRole.TRAINER, accumulate, 1),
        CostKind.SCORE: (REWARD, score, 4),
    }
    return tuple(
        WorkCost(
            lane=lane, kind=kind, per_call=0.0, per_unit=per_unit, observed_units=(size, size), relative_error=0.01
        )
        for kind, (role, per_unit, size) in seconds.items()
        for lane, own in ROLES.items()
        if own is role
    )


def ask(idle: IdleLanes, spec: RunSpec | None = None, **costs: float) -> LaneForecast:
    question = BorrowQuestion(spec=spec or spec_of(), roles=ROLES, measured=measured(**costs), idle=(idle,))
    (found,) = forecasts(question)
    return found


def rollout(most: int) -> IdleLanes:
    return IdleLanes(role=ROLLOUT, device="H100", most=most)


@pytest.mark.parametrize("max_staleness", [0, 1])
def test_where_generation_sets_the_pace_twice_the_lanes_nearly_halve_a_batch(max_staleness: int) -> None:
    spec = spec_of(max_staleness=max_staleness, importance_cap=2.0 if max_staleness else None)
    found = ask(rollout(2), spec, generate=2.0, accumulate=0.01)
    assert set(found.seconds) == {0, 1, 2}
    assert found.seconds[0] == pytest.approx(64.0, rel=0.1), "64 trajectories of 2 s on two lanes"
    assert found.seconds[1] == pytest.approx(64.0 * 2 / 3, rel=0.15)
    assert found.seconds[2] == pytest.approx(32.0, rel=0.1)


def test_where_training_sets_the_pace_further_lanes_gain_little() -> None:
    found = ask(rollout(4), generate=0.05, accumulate=2.0)
    assert found.seconds[4] > 0.95 * found.seconds[0]


def test_reward_lanes_are_forecast_where_scoring_sets_the_pace() -> None:
    idle = IdleLanes(role=REWARD, device="cpu", most=3)
    slow = ask(idle, generate=0.1, accumulate=0.01, score=1.0)
    assert slow.seconds[0] == pytest.approx(64.0, rel=0.1)
    assert slow.seconds[3] == pytest.approx(16.0, rel=0.2)
    quick = ask(idle, generate=2.0, accumulate=0.01)
    assert quick.seconds[3] == pytest.approx(quick.seconds[0], rel=0.01)


def test_a_large_run_is_simulated_within_the_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[int, int]] = []

    def counted(request: Any, candidate: Any, *, max_fragments: int) -> float:
        asked.append((len(request.costs.lanes), max_fragments))
        return 1.0

    monkeypatch.setattr(forecast_module, "predicted_seconds", counted)
    monkeypatch.setattr(forecast_module, "MAX_FRAGMENTS", 4000)
    large = spec_of({"group_size": 1024, "fragment_size": 1})
    found = ask(rollout(30), large)
    assert set(found.seconds) == {0, 30}
    asked.clear()
    monkeypatch.undo()
    monkeypatch.setattr(forecast_module, "predicted_seconds", counted)
    found = ask(rollout(30), generate=1.1)
    assert sum(limit for _, limit in asked) <= forecast_module.MAX_FRAGMENTS
    assert {0, 1, 2, 8, 30} <= set(found.seconds)


def test_equal_questions_are_answered_once() -> None:
    first = ask(rollout(3), generate=1.7)
    assert ask(rollout(3), generate=1.7) is first
