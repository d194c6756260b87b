"""What Prometheus reads of the pool and of runs, as far as the user may see it: computed when it asks.

    pool · queue · GPUs ─┐
    runs · newest values ┼─► metric families ─► text format
    budgets, tasks       ┘

Names follow https://prometheus.io/docs/practices/naming: base units, shares as ratios. Of runs that have ended only
the number by state is told, so that the number of series stays that of what goes on.
"""

from collections.abc import Iterator

from django.conf import settings
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.metrics_core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from accounts.models import User
from analysis.prometheus.gpu_series import gpu_series
from analysis.prometheus.run_series import run_series
from analysis.prometheus.task_counts import task_series, trace_series
from analysis.prometheus.unreadable_rows import unreadable_series
from fleet.selectors import newest_agent
from fleet.shares.spending import spendings
from runs.pool.pool_overview import pool_overviews


def as_text(user: User) -> bytes:
    """All series, in Prometheus' text format."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Series(user))
    return generate_latest(registry)


class _Series(Collector):
    def __init__(self, user: User) -> None:
        self._user = user

    def collect(self) -> Iterator[Metric]:
        yield from _pool_series(self._user)
        yield from gpu_series()
        yield from run_series(self._user)
        yield from _budget_series(self._user)
        yield from task_series()
        yield from unreadable_series()
        if settings.TANDEM_TRACES:
            yield from trace_series()


def _pool_series(user: User) -> Iterator[Metric]:
    lanes = GaugeMetricFamily(
        "tandem_lanes", "Lanes of a pool by what they do now.", labels=["pool", "kind", "device", "state"]
    )
    waiting = GaugeMetricFamily("tandem_queue_runs", "Runs that wait for lanes of a pool.", labels=["pool"])
    for pool in pool_overviews(user):
        waiting.add_metric([pool.name], pool.num_waiting)
        for alike in pool.lanes:
            lanes.add_metric([pool.name, alike.kind, alike.device, alike.state], alike.number)
    yield from (lanes, waiting)
    agent = newest_agent()
    if agent is not None and agent.reported_at is not None:
        yield GaugeMetricFamily(
            "tandem_node_agent_report_timestamp_seconds",
            "When the node agent last reported, in Unix time.",
            value=agent.reported_at.timestamp(),
        )


def _budget_series(user: User) -> Iterator[Metric]:
    text = "Share of a project's budget that is spent."
    spent = GaugeMetricFamily("tandem_budget_spent_ratio", text, labels=["project"])
    for of_project in spendings(user):
        spent.add_metric([of_project.budget.project.name], of_project.share)
    yield spent
