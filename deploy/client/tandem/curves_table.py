"""The curves of a run as one table."""

from collections.abc import Mapping
from typing import Any

from tandem.rest_models import Series

KEY = "key"
STEP = "optimizer_step"


def columns_by_step(series: Mapping[str, Series]) -> dict[str, list[Any]]:
    """Columns of one length: the steps at which any curve has a point, then each curve's values there, or None. Of
    several points at one step the last counts."""
    values = {key: dict(zip(curve.optimizer_step, curve.value, strict=True)) for key, curve in series.items()}
    steps = sorted(set().union(*values.values()))
    return {STEP: steps, **{key: [points.get(step) for step in steps] for key, points in values.items()}}


def as_table(columns: dict[str, list[Any]]) -> Any:
    """A pandas DataFrame indexed by step where pandas is installed, else the columns."""
    try:
        import pandas
    except ImportError:
        return columns
    return pandas.DataFrame(columns).set_index(STEP)


def table_by_step(points: Any) -> Any:
    """The same DataFrame of a `pyarrow.Table` that holds a row for each point."""
    frame = points.select([KEY, STEP, "value"]).to_pandas()
    order = frame[KEY].unique()
    last = frame.drop_duplicates([KEY, STEP], keep="last")
    wide = last.astype({KEY: "str", STEP: "int64"}).pivot(index=STEP, columns=KEY, values="value")
    return wide[list(order)].rename_axis(columns=None)
