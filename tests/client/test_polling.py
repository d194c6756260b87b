"""How often the client looks at what goes on."""

from itertools import islice

from tandem.polling import poll_waits


def test_looks_are_frequent_at_first_and_then_regular() -> None:
    assert list(islice(poll_waits(), 6)) == [0.25, 0.5, 1.0, 2.0, 2.0, 2.0]


def test_looks_end_with_the_time_that_was_given() -> None:
    assert list(poll_waits(timeout=0)) == []
    (only,) = islice(poll_waits(timeout=0.1), 1)
    assert 0 < only <= 0.1
