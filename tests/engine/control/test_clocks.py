import pytest
from hypothesis import given
from hypothesis import strategies as st

from worker.engine.control.clocks import MAX_ROUND_TRIP_SECONDS, LaneClock


@given(st.floats(-1e6, 1e6), st.floats(0, MAX_ROUND_TRIP_SECONDS), st.floats(0, 1))
def test_a_probes_error_is_at_most_half_of_its_round_trip(offset: float, trip: float, share: float) -> None:
    """`share`: the part of the round trip after which the lane reads its clock."""
    clock = LaneClock()
    clock.measure(100.0, 100.0 + trip * share - offset, 100.0 + trip)
    assert clock.offset_seconds == pytest.approx(offset, abs=trip / 2 + 1e-6)


def test_a_slow_probe_does_not_replace_a_fast_one() -> None:
    clock = LaneClock()
    clock.measure(0.0, 0.0, 0.01)
    good = clock.offset_seconds
    clock.measure(0.0, 0.0, 3.0)
    assert clock.offset_seconds == good
    clock.measure(10.0, 9.0, 10.0)
    assert clock.to_driver(9.0) == 10.0
