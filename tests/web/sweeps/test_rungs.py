"""What Optuna says at rungs, asked through stored reports."""

import optuna
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sweeps.rungs import Report, batches_to, rungs, verdicts
from sweeps.sweep_plan import Objective, Pruner, PrunerKind

HALVING = Pruner(kind=PrunerKind.SUCCESSIVE_HALVING, min_samples=100, reduction_factor=2)


@pytest.mark.parametrize(("num_samples", "found"), [(100, []), (101, [100]), (400, [100, 200]), (401, [100, 200, 400])])
def test_rungs_lie_a_factor_apart_and_before_the_end(num_samples: int, found: list[int]) -> None:
    assert rungs(HALVING, num_samples) == found
    assert rungs(Pruner(), num_samples) == []


def test_a_run_is_at_a_rung_with_the_batch_that_completes_it() -> None:
    assert [batches_to(100, per_batch) for per_batch in (1, 50, 64, 100, 128)] == [100, 2, 2, 1, 1]


@settings(max_examples=15, deadline=None)
@given(values=st.lists(st.floats(0, 1), min_size=1, max_size=12), maximise=st.booleans())
def test_stored_reports_get_the_answers_of_a_study_that_lives_on(values: list[float], maximise: bool) -> None:
    """The same trials in one study of Optuna's, reporting one after the other, as `Study.optimize` would run them."""
    living = optuna.create_study(
        direction="maximize" if maximise else "minimize",
        pruner=optuna.pruners.SuccessiveHalvingPruner(min_resource=100, reduction_factor=2),
    )
    told: list[Report] = []
    for point, value in enumerate(values):
        trial = living.ask()
        for rung in rungs(HALVING, 500):
            trial.report(value, rung)
            told.append(Report(point, rung, value))
            pruned = trial.should_prune()
            assert verdicts(HALVING, Objective(maximise=maximise), told)[-1] == pruned
            if pruned:
                break


def test_the_better_half_goes_on_from_a_rung() -> None:
    told = [Report(point, 100, value) for point, value in enumerate([0.4, 0.3, 0.2, 0.5])]
    assert verdicts(HALVING, Objective(), told) == [False, True, True, False]
    assert verdicts(HALVING, Objective(maximise=False), told) == [False, False, False, True]
