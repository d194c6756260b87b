"""The phase that a run shows while an evaluation is under way."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.scheduling.manual_executor import ManualExecutor, colocated
from tests.scheduling.strategies import algebra_of
from worker.contracts.events import PhaseEvent
from worker.contracts.states import Phase
from worker.engine.control.batch_boundaries import BatchBoundaries
from worker.engine.control.status_reporter import StatusReporter
from worker.scheduling.core.messages import AdmissionClosed, EvaluationComplete, EvaluationRequested, Purpose

TWO_GROUPS = algebra_of(groups_per_minibatch=2, fragments=(1, 2))


class Setup:
    """The boundaries of a run before its first batch; `client` keeps the phases that it shows."""

    def __init__(self, run: ManualExecutor, client: Any) -> None:
        self._client = client
        components: Any = SimpleNamespace(
            evaluations=SimpleNamespace(
                evaluation=lambda *, batch, policy_version: EvaluationRequested(
                    Purpose.EVALUATE, batch, 1, 2, policy_version
                ),
                complete=lambda *arguments: None,
            ),
            metrics=SimpleNamespace(position=SimpleNamespace(batch=0)),
            answer=SimpleNamespace(spec=SimpleNamespace(num_batches=9)),
            clock=SimpleNamespace(now=lambda: run.at),
        )
        saver: Any = None
        self.boundaries = BatchBoundaries(components, saver, StatusReporter(client))
        self.boundaries.begin(run.scheduler)

    @property
    def phases(self) -> list[Phase]:
        return [event.phase for event in self._client.events if isinstance(event, PhaseEvent)]


def test_a_run_that_trains_during_an_evaluation_shows_training(client: Any) -> None:
    setup = Setup(ManualExecutor(TWO_GROUPS), client)
    setup.boundaries.evaluate()
    assert setup.phases == [Phase.TRAIN]


def test_where_trainer_lanes_generate_the_evaluation_is_shown_until_it_is_complete(client: Any) -> None:
    setup = Setup(colocated(TWO_GROUPS, "t"), client)
    setup.boundaries.evaluate()
    setup.boundaries.evaluation_complete(EvaluationComplete(Purpose.EVALUATE, 0, ()))
    assert setup.phases == [Phase.EVALUATE, Phase.TRAIN]


@pytest.mark.parametrize("num_batches", [1, 9])
def test_an_evaluation_that_no_batch_goes_on_beside_is_shown(client: Any, num_batches: int) -> None:
    run = ManualExecutor(TWO_GROUPS, num_batches=num_batches)
    if num_batches > 1:
        run.apply(AdmissionClosed())
    while run.actions:
        run.finish(type(run.actions[0]))
    setup = Setup(run, client)
    setup.boundaries.evaluate()
    assert setup.phases == [Phase.EVALUATE]
