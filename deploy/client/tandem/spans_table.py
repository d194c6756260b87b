"""The spans of a timeline as one table, whichever way they came."""

from collections.abc import Mapping, Sequence
from typing import Any

from tandem.rest_models import TimelineSpan

NAMES = ("lane", "kind", "cause", "for_run")
TIMES = ("start", "end")


def spans_columns(spans: Sequence[Mapping[str, Any]]) -> dict[str, list[Any]]:
    """Columns of one length, by lane and start."""
    ordered = sorted(spans, key=lambda span: (span["lane"], span["start"]))
    return {name: [span[name] for span in ordered] for name in TimelineSpan.model_fields}


def table_of_spans(spans: Sequence[Mapping[str, Any]]) -> Any:
    """A pandas DataFrame with times in UTC where pandas is installed, else the columns."""
    columns = spans_columns(spans)
    try:
        import pandas
    except ImportError:
        return columns
    nanoseconds = {name: [_nanoseconds(at) for at in columns[name]] for name in TIMES}
    frame = pandas.DataFrame(columns | nanoseconds)
    for name in frame:
        frame[name] = _typed(frame[name])
    return frame


def frame_of_spans(table: Any) -> Any:
    """The same DataFrame of a `pyarrow.Table`."""
    frame = table.to_pandas()
    for name in frame:
        frame[name] = _typed(frame[name])
    return frame


def _typed(column: Any) -> Any:
    """Names as categories, which take no room; numbers that may lack as floats."""
    import pandas

    if column.name in NAMES:
        return column.astype("category")
    if column.name in TIMES:
        return pandas.to_datetime(column, utc=True)
    return column.astype("float64" if column.isna().any() else "int64")


def _nanoseconds(unix_seconds: float) -> int:
    """Whole seconds apart from the rest: their product with a billion has more digits than a float."""
    whole = int(unix_seconds // 1)
    return whole * 1_000_000_000 + round((unix_seconds - whole) * 1_000_000_000)
