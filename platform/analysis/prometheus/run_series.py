"""How many runs there are, and how those that go on do."""

from collections.abc import Collection, Iterator
from uuid import UUID

from django.db import connection
from django.db.models import Count
from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from accounts.models import User
from runs.models import Run
from runs.selectors import visible_runs
from worker.contracts.metric_names import Metric as Curve
from worker.contracts.states import END_STATES, RunState

LABELS = ["run", "name", "project"]
NEWEST = {
    Curve.REWARD_MEAN: ("tandem_run_reward", "Mean weighted reward of the newest batch."),
    Curve.EVAL_REWARD: ("tandem_run_held_out_reward", "Weighted held-out reward of the newest evaluation."),
    Curve.KL: ("tandem_run_kl", "KL of the newest batch."),
    Curve.IMAGES_PER_SECOND: ("tandem_run_images_per_second", "Images or clips of the newest batch in a second."),
    Curve.BATCH_SECONDS: ("tandem_run_batch_seconds", "Seconds that the newest batch took."),
}
"""By the curve whose newest point it is."""
_NEWEST_POINTS = """
SELECT run_id, key, value FROM unnest(%s::uuid[]) AS run_id CROSS JOIN unnest(%s::text[]) AS key CROSS JOIN LATERAL (
    SELECT value FROM telemetry_metricpoint AS point WHERE point.run_id = run_id.run_id AND point.key = key.key
    ORDER BY optimizer_step DESC LIMIT 1
) AS newest
"""


def run_series(user: User) -> Iterator[Metric]:
    by_state = GaugeMetricFamily("tandem_runs", "Runs by state.", labels=["state"])
    counts = dict(visible_runs(user).order_by().values_list("state").annotate(Count("pk")))
    for state in RunState:
        by_state.add_metric([state], counts.get(state.value, 0))
    yield by_state
    ended = [state.value for state in END_STATES]
    going = visible_runs(user).exclude(state__in=ended).select_related(None).select_related("project")
    shown = ("name", "num_batches", "num_batches_done", "last_heartbeat_at", "project__name")
    runs = {run.pk: run for run in going.only(*shown)}
    yield from _progress(list(runs.values()))
    families = {key: GaugeMetricFamily(name, text, labels=LABELS) for key, (name, text) in NEWEST.items()}
    for run_id, key, value in _newest_points(runs.keys(), families.keys()):
        families[Curve(key)].add_metric(_labels(runs[run_id]), value)
    yield from families.values()


def _progress(runs: Collection[Run]) -> Iterator[Metric]:
    done = GaugeMetricFamily("tandem_run_batches_done", "Complete batches.", labels=LABELS)
    wanted = GaugeMetricFamily("tandem_run_batches", "Batches that the run shall have.", labels=LABELS)
    heard = GaugeMetricFamily(
        "tandem_run_heartbeat_timestamp_seconds", "When its driver was last heard, in Unix time.", labels=LABELS
    )
    for run in runs:
        done.add_metric(_labels(run), run.num_batches_done)
        wanted.add_metric(_labels(run), run.num_batches)
        if run.last_heartbeat_at is not None:
            heard.add_metric(_labels(run), run.last_heartbeat_at.timestamp())
    yield from (done, wanted, heard)


def _newest_points(runs: Collection[UUID], keys: Collection[Curve]) -> list[tuple[UUID, str, float]]:
    with connection.cursor() as cursor:
        cursor.execute(_NEWEST_POINTS, [list(runs), [key.value for key in keys]])
        return cursor.fetchall()


def _labels(run: Run) -> list[str]:
    return [str(run.pk), run.name, run.project.name]
