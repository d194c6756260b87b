"""A run's curves as an Arrow stream: a row for each point, by metric and optimizer step."""

from collections.abc import Collection, Iterator
from uuid import UUID

from psycopg import sql

from runs.models import CLOCK
from telemetry.arrow.arrow_stream import PAGE_ROWS, Column, Kind, arrow_stream
from telemetry.arrow.keyset_pages import Row, keyset_pages
from telemetry.curves.curves import LAST_STEP, curves
from telemetry.models import MetricPoint
from telemetry.selectors import last_stream_seq

COLUMNS = (
    Column("key", Kind.NAME),
    Column("batch", Kind.COUNT),
    Column("optimizer_step", Kind.COUNT),
    Column("at", Kind.TIME),
    Column("value", Kind.VALUE),
)
ENVELOPE = (Column("min", Kind.VALUE), Column("max", Kind.VALUE))
"""Further columns where a point may stand for several."""


def point_stream(
    run_id: UUID,
    *,
    keys: Collection[str] = (),
    max_points: int | None = None,
    from_step: int = 0,
    to_step: int = LAST_STEP,
    page_rows: int = PAGE_ROWS,
) -> Iterator[bytes]:
    """Every point of a run's metrics (or of `keys`) in a window of optimizer steps, read up to one `stream_seq`; with
    `max_points`, the points of `curves` with their `ENVELOPE`."""
    if max_points is not None:
        found = curves(run_id, keys=keys, max_points=max_points, from_step=from_step, to_step=to_step)
        columns = (*COLUMNS, *ENVELOPE)
        names = [column.name for column in columns[1:]]
        pages = (
            [(key, *row) for row in zip(*(series[name] for name in names), strict=True)]  # type: ignore[literal-required]
            for key, series in found["series"].items()
        )
        return arrow_stream(columns, pages, {"stream_seq": str(found["stream_seq"])})
    up_to = last_stream_seq(run_id)
    every = _every_point(run_id, up_to, keys, from_step, to_step, page_rows)
    return arrow_stream(COLUMNS, every, {"stream_seq": str(up_to)})


def _every_point(
    run_id: UUID, up_to: int, keys: Collection[str], from_step: int, to_step: int, page_rows: int
) -> Iterator[list[Row]]:
    condition = "run_id = {run_id} AND stream_seq <= {up_to} AND optimizer_step BETWEEN {from_step} AND {to_step}"
    condition += " AND at BETWEEN 0 AND {latest}"
    rows = sql.SQL(condition + (" AND key = ANY({keys})" if keys else "")).format(
        run_id=sql.Literal(run_id),
        up_to=sql.Literal(up_to),
        from_step=sql.Literal(from_step),
        to_step=sql.Literal(to_step),
        keys=sql.Literal(list(keys)),
        latest=sql.Literal(CLOCK[1]),
    )
    return keyset_pages(
        MetricPoint._meta.db_table,
        [column.name for column in COLUMNS],
        key=("key", "optimizer_step", "stream_seq"),
        num_indexed=2,
        rows=rows,
        page_rows=page_rows,
    )
