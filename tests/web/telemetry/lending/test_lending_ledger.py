"""The lending ledger: one row for each decision, which is reported when made and again with its realised gain."""

from collections.abc import Callable
from typing import Any

import pytest

from telemetry.lending.lending_ledger import lending
from telemetry.timeline.timeline import timeline

Make = Callable[..., dict[str, Any]]
pytestmark = pytest.mark.django_db


@pytest.fixture
def lend(event: Make) -> Make:
    def make(seq: int, decision: int, predicted: float | None = None, realised: float | None = None) -> dict[str, Any]:
        return event(
            seq,
            "lend",
            decision=decision,
            batch=3,
            lanes=["trainer-0"],
            num_fragments=2,
            predicted_gain_seconds=predicted,
            realised_gain_seconds=realised,
        )

    return make


def test_a_decision_is_one_row_with_predicted_and_realised_gain(driver: Any, lend: Make) -> None:
    driver.send(lend(1, 1, predicted=2.0), lend(2, 2, predicted=1.0), lend(3, 1, predicted=2.0, realised=1.5))
    ledger = lending(driver.run_id)
    assert [one["decision"] for one in ledger["decisions"]] == [2, 1]
    second, first = ledger["decisions"]
    assert (first["predicted_gain_seconds"], first["realised_gain_seconds"]) == (2.0, 1.5)
    assert first["settled_at"] == first["at"] + 2
    assert (second["realised_gain_seconds"], second["settled_at"]) == (None, None)
    totals = ledger["totals"]
    assert (totals["num_decisions"], totals["num_graded"]) == (2, 1)
    assert (totals["mean_predicted_gain_seconds"], totals["mean_realised_gain_seconds"]) == (2.0, 1.5)
    assert [one["decision"] for one in lending(driver.run_id, limit=1)["decisions"]] == [2]


def test_a_driver_that_goes_back_counts_anew_and_leaves_open_decisions_open(
    driver: Any, event: Make, lend: Make
) -> None:
    back = event(2, "resumed", batch=0, policy_version=0, optimizer_step=0)
    driver.send(lend(1, 1, predicted=2.0), back, lend(3, 1, predicted=4.0), lend(4, 1, predicted=4.0, realised=3.0))
    assert [one["realised_gain_seconds"] for one in lending(driver.run_id)["decisions"]] == [3.0, None]


def test_greedy_decisions_predict_nothing_and_count_in_no_mean(driver: Any, lend: Make) -> None:
    driver.send(lend(1, 1), lend(2, 1, realised=1.0))
    totals = lending(driver.run_id)["totals"]
    assert (totals["num_graded"], totals["mean_realised_gain_seconds"]) == (0, None)


def test_the_work_done_on_loan_is_totalled_from_the_spans(driver: Any, event: Make) -> None:
    lent = {"lane": "trainer-0", "kind": "lent_generate", "start": 1, "end": 4, "batch": 3, "num_samples": 8}
    switch = {"lane": "trainer-0", "kind": "switch", "start": 0.5, "end": 1}
    driver.send(event(1, "spans", spans=[switch, lent]))
    totals = lending(driver.run_id)["totals"]
    assert (totals["lent_seconds"], totals["num_lent_fragments"], totals["num_lent_samples"]) == (3.0, 1, 8)
    assert (totals["switch_seconds"], totals["num_switches"]) == (0.5, 1)


def test_the_timeline_carries_the_decisions_of_its_window(driver: Any, lend: Make, spans: Make) -> None:
    first, second = lend(1, 1), lend(2, 2)
    driver.send(first, second, spans(3, ("trainer-0", "train", first["at"] - 5, second["at"] + 5)))
    assert [one["decision"] for one in timeline(driver.run_id, now=0.0)["lends"]] == [1, 2]
    assert timeline(driver.run_id, now=0.0, end=first["at"] + 0.5)["lends"][0]["lanes"] == ["trainer-0"]


def test_a_loan_cut_short_is_seen_by_the_fragments_made(driver: Any, lend: Make, spans: Make) -> None:
    first, second = lend(1, 1), lend(2, 2)
    at = [one["at"] for one in (first, second)]
    made = [
        ("trainer-0", "lent_generate", at[0] - 1, at[0] - 0.5),
        ("trainer-0", "lent_generate", at[0] + 0.1, at[0] + 0.2),
        ("trainer-1", "lent_generate", at[0] + 0.1, at[0] + 0.2),
        ("trainer-0", "lent_generate", at[1] + 0.1, at[1] + 0.2),
        ("trainer-0", "lent_generate", at[1] + 0.2, at[1] + 0.3),
    ]
    driver.send(first, second, spans(3, *made))
    ledger = lending(driver.run_id)["decisions"]
    assert [(one["decision"], one["num_generated"], one["num_fragments"]) for one in ledger] == [(2, 2, 2), (1, 1, 2)]
