from typing import Any

from worker.engine.control.lend_reporter import LendReporter
from worker.scheduling.core.messages import Lend, LendSettled


def lend(decision: int, gain: float | None) -> Lend:
    """A decision with a predicted gain, in seconds, of which it needed half."""
    return Lend(decision, 3, ("trainer-0", "trainer-1"), 2, gain, None if gain is None else gain / 2)


def test_a_decision_is_reported_when_it_is_made_and_again_with_its_realised_gain(client: Any) -> None:
    reporter = LendReporter(client)
    reporter.decided(lend(1, 0.5))
    reporter.decided(lend(2, None))
    reporter.settled(LendSettled(1, 0.25))
    reported = [(event.decision, event.predicted_gain_seconds, event.realised_gain_seconds) for event in client.events]
    assert reported == [(1, 0.5, None), (2, None, None), (1, 0.5, 0.25)]
    assert [event.least_gain_seconds for event in client.events] == [0.25, None, 0.25]
    assert {(event.batch, event.lanes, event.num_fragments) for event in client.events} == {
        (4, ("trainer-0", "trainer-1"), 2)
    }


def test_decisions_of_a_new_scheduler_continue_the_numbering(client: Any) -> None:
    reporter = LendReporter(client)
    reporter.decided(lend(1, 0.5))
    reporter.decided(lend(2, 0.5))
    reporter.restart()
    reporter.decided(lend(1, 0.5))
    reporter.settled(LendSettled(1, 0.1))
    assert [event.decision for event in client.events] == [1, 2, 3, 3]
