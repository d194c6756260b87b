"""Work is counted in proportion to the part of it that falls into the stretch asked for."""

import pytest

from worker.contracts.spans import SpanKind
from worker.scheduling.planning.work_pieces import WorkPieces
from worker.scheduling.timeline.span_recorder import Work


def trained(pieces: WorkPieces, batch: int, num_units: int, start: float, end: float) -> None:
    pieces.add(SpanKind.TRAIN, Work(batch=batch, num_units=num_units), start, end)


def test_pieces_at_the_edges_count_in_proportion() -> None:
    pieces = WorkPieces()
    trained(pieces, 0, 8, 0.0, 4.0)
    trained(pieces, 1, 8, 4.0, 8.0)
    assert pieces.batches_trained(2.0, 5.0, 2) == pytest.approx(0.5 + 0.25)


def test_a_batch_that_is_not_trained_as_a_whole_is_taken_to_be_as_large_as_the_largest_that_is() -> None:
    pieces = WorkPieces()
    trained(pieces, 0, 8, 0.0, 4.0)
    trained(pieces, 1, 2, 4.0, 5.0)
    assert pieces.batches_trained(4.0, 5.0, 1) == pytest.approx(0.25)


def test_after_batches_of_skipped_groups_alone_a_later_one_is_measured_by_itself() -> None:
    pieces = WorkPieces()
    trained(pieces, 2, 8, 4.0, 8.0)
    assert pieces.batches_trained(4.0, 6.0, 2) == pytest.approx(0.5)
