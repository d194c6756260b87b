"""A rank that waits in a collective tells which one, on the backend of the machine."""

from pathlib import Path

import pytest

from tests.engine.rank_processes import run_rank_processes


@pytest.mark.slow
def test_a_rank_tells_the_collective_that_it_waits_in_and_only_that_one(tmp_path: Path) -> None:
    task = {"rows": 5, "seconds": 0.5}
    (during, after), _ = run_rank_processes("tests.engine.devices.recorded_worker", task, tmp_path)
    (waits,) = during
    assert (waits.rank, waits.operation, waits.input_sizes) == (0, "gloo:all_reduce", ((5, 3),))
    assert 0.3 < waits.seconds < 60
    assert waits.number >= 2, "the one before it was completed"
    assert after == ()
