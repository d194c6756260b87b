"""A scheduler for a bootstrap answer: the costs that it uses before the run has measured its own."""

from pathlib import Path
from typing import Any

import pytest

from tests.engine.conftest import SpecMaker
from tests.engine.driving import bootstrap_answer
from worker.engine.build import build_scheduler
from worker.engine.control.checkpoint_directory import RunPosition
from worker.engine.control.schedule_logger import ScheduleLogger
from worker.scheduling.core.costs import GANG, Cost, CostKind, dump_costs

PLANNED = {("rollout-0", CostKind.GENERATE): Cost(0.5, 0.25), (GANG, CostKind.COMMIT): Cost(0.125)}


@pytest.mark.parametrize("costs", [PLANNED, {}], ids=["planned", "not planned"])
def test_a_planned_run_uses_the_costs_of_its_plan_and_reports_none_of_them_as_measured(
    costs: dict[Any, Cost], make_spec: SpecMaker, uploader: Any, tmp_path: Path
) -> None:
    answer = bootstrap_answer(make_spec(), "model", tmp_path, prior_costs=dump_costs(costs))
    pipeline, size = answer.spec.pipeline, answer.spec.algebra.fragment_size
    scheduler = build_scheduler(answer, RunPosition(), ScheduleLogger(uploader), pipeline=pipeline, fragment_size=size)
    assert scheduler.state.costs.table() == costs
    assert scheduler.state.costs.measured() == {}
