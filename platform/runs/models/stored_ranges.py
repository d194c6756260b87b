"""Which stored numbers of a run can be read. The ingest takes no others, but an older version, a defect or a hand may
have left some. Readers leave those rows out in SQL, and a partial index of each table holds them alone, so that they
can be counted at any time without reading another row.
"""

from collections.abc import Collection

from django.db.models import Index, Q

from worker.contracts.base import MAX_CLOCK_SECONDS, MAX_VALUE

CLOCK = (0.0, MAX_CLOCK_SECONDS)
"""Of moments, for `at__range`: PostgreSQL sorts NaN and infinity behind."""
VALUES = (-MAX_VALUE, MAX_VALUE)
"""Of all other numbers, likewise."""
UNREADABLE = "_unreadable"
"""How the names of these indexes end."""


def unreadable_rows(table: str, *, clock: Collection[str] = (), values: Collection[str] = ()) -> Index:
    """An index of the rows of which a column in `clock` or `values` is out of its range."""
    ranges = {**dict.fromkeys(clock, CLOCK), **dict.fromkeys(values, VALUES)}
    readable = Q(**{f"{column}__range": bounds for column, bounds in ranges.items()})
    return Index(fields=["run"], condition=~readable, name=table + UNREADABLE)
