"""What a run reported, as tables: its curves and its timeline."""

from collections.abc import Iterable
from typing import Any

from pydantic import PrivateAttr

from tandem import rest_models
from tandem.arrow_tables import ARROW, arrow_table, reads_arrow, require_pyarrow
from tandem.asynchronous.session import Session
from tandem.curves_table import as_table, columns_by_step, table_by_step
from tandem.protocol import API
from tandem.spans_table import frame_of_spans, table_of_spans
from tandem.tolerant_model import Model


class RunTelemetry(Model):
    """A run's id with the reads of its curves and spans."""

    id: str
    _session: Session = PrivateAttr()

    @property
    def _path(self) -> str:
        return f"{API}/runs/{self.id}"

    async def curves(self, keys: Iterable[str] = (), *, max_points: int = 500) -> rest_models.Curves:
        """The curves of the metrics `keys`, of all without. Beyond `max_points` a point is the mean of several."""
        answer = await self._session.get(f"{self._path}/metrics", keys=",".join(keys), max_points=max_points)
        return rest_models.Curves.model_validate(answer)

    async def metrics(self, keys: Iterable[str] = (), *, max_points: int = 500) -> Any:
        """The same as one table by optimizer step: a pandas DataFrame where pandas is installed, else columns. With
        pyarrow, too, it is read as Arrow."""
        if not reads_arrow():
            return as_table(columns_by_step((await self.curves(keys, max_points=max_points)).series))
        return table_by_step(await self.points(keys, max_points=max_points))

    async def timeline(self, *, start: float | None = None, end: float | None = None, limit: int = 5000) -> Any:
        """The lane time that touches `[start, end)` (Unix seconds; all by default), a row for each span: a pandas
        DataFrame where pandas is installed, else columns. Beyond about `limit` spans, short neighbours are one. With
        pyarrow, too, it is read as Arrow."""
        if reads_arrow():
            return frame_of_spans(await self.spans(start=start, end=end, limit=limit))
        answer = await self._session.get(f"{self._path}/timeline", to=end, limit=limit, **{"from": start})
        return table_of_spans(answer["spans"])

    async def points(self, keys: Iterable[str] = (), *, max_points: int | None = None) -> Any:
        """Every point of the metrics `keys`, of all without, as a `pyarrow.Table`, which polars takes without a copy.

        Args:
            max_points: of each metric, as in `curves`.

        Raises:
            TandemError: pyarrow is not installed.
        """
        return await self._arrow("metrics", keys=",".join(keys), max_points=max_points)

    async def spans(self, *, start: float | None = None, end: float | None = None, limit: int | None = None) -> Any:
        """Every span that touches `[start, end)` (Unix seconds; all by default) as a `pyarrow.Table`.

        Args:
            limit: about the most rows, as in `timeline`.

        Raises:
            TandemError: pyarrow is not installed.
        """
        return await self._arrow("timeline", to=end, limit=limit, **{"from": start})

    async def _arrow(self, what: str, **query: Any) -> Any:
        require_pyarrow()
        return arrow_table(await self._session.read(f"{self._path}/{what}", ARROW, **query))
