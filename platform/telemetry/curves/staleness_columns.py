"""How stale the trajectories of each trained batch were, for a heat map whose columns are batches.

A page asks for as many columns as it has pixels; of a long run a column holds several neighbouring batches. Invariant:
every trajectory of every batch in the window is counted once, those of batches that a resume went back behind not at
all.
"""

import json
from uuid import UUID

from django.db import connection
from pydantic import with_config
from typing_extensions import TypedDict

from telemetry.selectors import last_stream_seq

MAX_COLUMNS = 2000
"""More than the pixels across most screens."""
LAST_BATCH = 2**31 - 1
"""The end of a window without one: the largest number that a column of batches holds."""

_COLUMNS = """
WITH trained AS (
    SELECT stream_seq, (body->>'batch')::int AS batch, body->'counts' AS counts
    FROM telemetry_streamitem
    WHERE run_id = %(run_id)s AND type = 'staleness' AND stream_seq <= %(up_to)s
), gone_back AS (
    SELECT stream_seq, (body->>'batch')::int AS batch
    FROM telemetry_streamitem
    WHERE run_id = %(run_id)s AND type = 'resumed' AND stream_seq <= %(up_to)s
), kept AS (
    SELECT batch, counts, batch - min(batch) OVER () AS nth, max(batch) OVER () - min(batch) OVER () + 1 AS span
    FROM trained
    WHERE batch BETWEEN %(from_batch)s AND %(to_batch)s AND NOT EXISTS (
        SELECT FROM gone_back WHERE gone_back.stream_seq > trained.stream_seq AND gone_back.batch < trained.batch
    )
), placed AS (
    SELECT batch, counts, nth / ((span + %(max_columns)s - 1) / %(max_columns)s) AS place FROM kept
), counted AS (
    SELECT place, staleness, sum(number::bigint) AS number
    FROM placed, jsonb_each_text(counts) AS level (staleness, number) GROUP BY place, staleness
), col AS (
    SELECT place, min(batch) AS first, max(batch) AS last, count(*) AS num_batches FROM placed GROUP BY place
)
SELECT first, last, num_batches, jsonb_object_agg(staleness, number)::text
FROM col JOIN counted USING (place) GROUP BY place, first, last, num_batches ORDER BY place
"""


@with_config(use_attribute_docstrings=True)
class StalenessColumn(TypedDict):
    """The trajectories of one batch, or of several neighbours, by their staleness when they were trained on."""

    first_batch: int
    last_batch: int
    num_batches: int
    """Batches that reported their staleness."""
    counts: dict[str, int]
    """Number of trajectories of all these batches by staleness in policy versions."""


@with_config(use_attribute_docstrings=True)
class StalenessColumns(TypedDict):
    columns: list[StalenessColumn]
    """Ascending by batch; each but the last covers the same number of batches."""
    stream_seq: int
    """Number of the newest item read."""


def staleness_columns(
    run_id: UUID, *, max_columns: int, from_batch: int = 1, to_batch: int = LAST_BATCH
) -> StalenessColumns:
    """The batches of a window, both ends included, in at most `max_columns` columns."""
    up_to = last_stream_seq(run_id)
    asked = {"max_columns": max_columns, "from_batch": from_batch, "to_batch": to_batch}
    with connection.cursor() as cursor:
        cursor.execute(_COLUMNS, {"run_id": run_id, "up_to": up_to, **asked})
        rows = cursor.fetchall()
    columns: list[StalenessColumn] = [
        {"first_batch": first, "last_batch": last, "num_batches": num_batches, "counts": json.loads(counts)}
        for first, last, num_batches, counts in rows
    ]
    return {"columns": columns, "stream_seq": up_to}
