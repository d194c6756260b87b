"""A run's curves and lane time as tables: the same by Arrow and by JSON."""

import sys
from collections.abc import Callable

import pandas
import polars
import pytest
from pandas.testing import assert_frame_equal

from runs.models import Run
from tandem import TandemError, arrow_tables
from tandem.synchronous.client import Client
from tandem.synchronous.run_handle import Run as ReadRun

pytestmark = pytest.mark.django_db


@pytest.fixture
def found(client: Client, run: Run, report: Callable[..., None]) -> ReadRun:
    """A run with two curves, of which one is sparse, and three spans."""
    values = [{"reward/mean": batch / 3} | ({"eval/reward": batch / 7} if batch % 4 == 1 else {}) for batch in range(9)]
    at = 1.7e9
    generated = {"kind": "generate", "batch": 1, "group": 2, "num_samples": 4}
    spans = [
        {"lane": "rollout-1", "start": at, "end": at + 1 / 3, **generated},
        {"lane": "rollout-0", "start": at + 0.7, "end": at + 1.1, "kind": "idle", "cause": "no_fragment_ready"},
        {"lane": "rollout-0", "start": at + 0.1, "end": at + 0.7, **generated},
    ]
    report(
        *(
            {"type": "metrics", "batch": 1 + n, "optimizer_step": 1 + n, "values": each}
            for n, each in enumerate(values)
        ),
        {"type": "spans", "spans": spans},
    )
    return client.runs.get(str(run.pk))


def test_tables_by_arrow_are_those_by_json(found: ReadRun, monkeypatch: pytest.MonkeyPatch) -> None:
    arrow = found.metrics(), found.timeline(), found.metrics(["eval/reward"]), found.timeline(start=1.8e9)
    assert isinstance(arrow[0], pandas.DataFrame)
    assert list(arrow[0].columns) == ["eval/reward", "reward/mean"]
    assert arrow[1]["lane"].tolist() == ["rollout-0", "rollout-0", "rollout-1"]
    assert str(arrow[1]["start"].dtype) == "datetime64[ns, UTC]"
    monkeypatch.setattr(arrow_tables, "find_spec", lambda package: None)
    json = found.metrics(), found.timeline(), found.metrics(["eval/reward"]), found.timeline(start=1.8e9)
    for by_arrow, by_json in zip(arrow, json, strict=True):
        assert_frame_equal(by_arrow, by_json, check_exact=True, check_dtype=False, check_categorical=False)
    monkeypatch.setitem(sys.modules, "pandas", None)
    columns = found.timeline()
    assert columns["start"] == [1.7e9 + 0.1, 1.7e9 + 0.7, 1.7e9]
    with pytest.raises(TandemError, match=r"tandem-client\[arrow\]"):
        found.points()


def test_polars_takes_every_point_and_span(found: ReadRun) -> None:
    points = polars.from_arrow(found.points())
    assert isinstance(points, polars.DataFrame)
    rewards = points.filter(polars.col("key") == "reward/mean")
    assert rewards["value"].to_list() == [batch / 3 for batch in range(9)]
    spans = polars.from_arrow(found.spans())
    assert isinstance(spans, polars.DataFrame)
    assert spans["num_samples"].to_list() == [4, 0, 4]
