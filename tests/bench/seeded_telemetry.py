"""A run of any size and a list of many, as rows: what long trainings leave in the database. Django must be set up
before this is imported.

The run's metrics, spans, versions, queue depths and staleness are made by the database itself, since the ingest would
take hours; rollups and lane time are summed from them, as the ingest keeps them.
"""

import time
import uuid
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connection
from django.utils import timezone

from accounts.models import Project, User
from accounts.secrets import hash_secret
from runs.models import Attempt, Run, RunStream
from runs.services import create_run
from telemetry.curves.metric_rollups import BITS_PER_LEVEL, LEVELS
from telemetry.timeline.lane_state_rollups import NUM_LEVELS, seconds_of

TOKEN = "the driver's token"
BATCH_SECONDS = 4.0
NUM_SPARKLINE_BATCHES = 200
OWN_KEYS = ("reward/mean", "reward/std", "eval/reward", "policy/kl", "speed/images_per_second", "speed/batch_seconds")

_POINTS = """
INSERT INTO telemetry_metricpoint (run_id, stream_seq, attempt, key, batch, optimizer_step, at, value)
SELECT %(run)s, batch, 1, key, batch, batch, %(start)s + batch * %(seconds)s, sin(batch / 900.0) + random() / 3
FROM generate_series(1, %(batches)s) AS batch, unnest(%(keys)s::text[]) AS key
"""
_ROLLUPS = """
INSERT INTO telemetry_metricrollup
    (run_id, attempt, key, level, bucket, first_step, last_step, last_batch, last_at, min, max, mean, count)
SELECT run_id, 1, key, %(level)s, optimizer_step >> %(bits)s, min(optimizer_step), max(optimizer_step), max(batch),
       max(at), min(value), max(value), avg(value), count(*)
FROM telemetry_metricpoint WHERE run_id = ANY(%(runs)s) GROUP BY run_id, key, optimizer_step >> %(bits)s
"""
_SPANS = """
INSERT INTO telemetry_spanrow (run_id, stream_seq, attempt, lane, kind, cause, start, "end", batch, "group",
                               policy_version, num_samples, num_units)
SELECT %(run)s, nth, 1, role || '-' || (lane - first), (kinds)[1 + (nth + lane) %% 5],
       CASE WHEN (nth + lane) %% 5 = 4 THEN 'no_fragment_ready' END,
       %(start)s + nth * %(step)s, %(start)s + (nth + 1) * %(step)s, 1 + nth / 8, nth %% 6, nth / 8, 4, 1
FROM generate_series(0, %(spans_of_lane)s - 1) AS nth,
     (VALUES ('rollout', 0, 0.75, ARRAY['generate', 'decode', 'generate', 'pull', 'idle']),
             ('trainer', 0.75, 0.94, ARRAY['train', 'train', 'publish', 'train', 'idle']),
             ('reward', 0.94, 1, ARRAY['score', 'score', 'score', 'score', 'idle'])) AS part (role, low, high, kinds),
     LATERAL (SELECT (low * %(lanes)s)::int AS first, (high * %(lanes)s)::int AS past) AS bounds,
     LATERAL generate_series(first, past - 1) AS lane
"""
_LANE_TIME = """
INSERT INTO telemetry_lanetime (run_id, attempt, lane, kind, cause, seconds, first_start, last_end)
SELECT run_id, 1, lane, kind, coalesce(cause, ''), sum("end" - start), min(start), max("end")
FROM telemetry_spanrow WHERE run_id = %(run)s GROUP BY run_id, lane, kind, cause
"""
_LANE_STATES = """
INSERT INTO telemetry_lanestaterollup (run_id, level, bucket, role, kind, seconds)
SELECT run_id, %(level)s, bucket, split_part(lane, '-', 1), kind,
       sum(least("end", (bucket + 1) * %(width)s) - greatest(start, bucket * %(width)s))
FROM telemetry_spanrow,
     generate_series(floor(start / %(width)s)::bigint, (ceil("end" / %(width)s) - 1)::bigint) AS bucket
WHERE run_id = %(run)s GROUP BY 1, 2, 3, 4, 5
"""
_ITEMS = """
INSERT INTO telemetry_streamitem (run_id, stream_seq, attempt, seq, type, at, body)
SELECT %(run)s, 3 * batch + part, 1, 3 * batch + part, (ARRAY['publish', 'queues', 'staleness'])[1 + part],
       %(start)s + batch * %(seconds)s, CASE part
       WHEN 0 THEN jsonb_build_object('policy_version', batch, 'num_bytes', 1, 'num_tensors', 1, 'sha256', '',
                                      'seconds', 0.1)
       WHEN 1 THEN jsonb_build_object('batch', batch, 'depths', jsonb_build_object('ready', batch %% 17))
       ELSE jsonb_build_object('batch', batch, 'counts', jsonb_build_object('0', 4 - batch %% 4, '1', batch %% 4)) END
FROM generate_series(1, %(batches)s) AS batch, generate_series(0, 2) AS part
"""


@dataclass(frozen=True, slots=True)
class Size:
    """How much a run has reported."""

    num_points: int = 1_000_000
    num_keys: int = 50
    num_lanes: int = 64
    num_spans: int = 200_000

    @property
    def num_batches(self) -> int:
        return self.num_points // self.num_keys


def last_seq(num_batches: int) -> int:
    """The number of the newest event of a seeded run."""
    return 3 * num_batches + 2


def seed_run(user: User, project: Project, size: Size) -> Run:
    """A live run of that size, whose driver has sent as many events as the run's number says."""
    run = _running(user, project, size.num_batches)
    seconds = size.num_batches * BATCH_SECONDS
    spans_of_lane = size.num_spans // size.num_lanes
    keys = [*OWN_KEYS, *(f"eval/part/reward_{index}" for index in range(size.num_keys - len(OWN_KEYS)))]
    common: dict[str, Any] = {
        "run": run.pk,
        "start": time.time() - seconds,
        "seconds": BATCH_SECONDS,
        "batches": size.num_batches,
    }
    last = last_seq(size.num_batches)
    with connection.cursor() as cursor:
        cursor.execute(_POINTS, {**common, "keys": keys})
        _roll_up([run])
        spans = {"spans_of_lane": spans_of_lane, "lanes": size.num_lanes, "step": seconds / spans_of_lane}
        cursor.execute(_SPANS, {**common, **spans})
        cursor.execute(_LANE_TIME, common)
        for level in range(NUM_LEVELS):
            cursor.execute(_LANE_STATES, {**common, "level": level, "width": seconds_of(level)})
        cursor.execute(_ITEMS, common)
        cursor.execute(
            "INSERT INTO telemetry_attemptstream (run_id, attempt, high_water) VALUES (%s, 1, %s)", [run.pk, last]
        )
        RunStream.objects.filter(run=run).update(last_stream_seq=last)
        cursor.execute("VACUUM ANALYZE")
    return run


def seed_list(user: User, project: Project, num_runs: int, num_with_curves: int) -> None:
    """So many completed runs; the newest of them have a reward curve."""
    like = _running(user, project, NUM_SPARKLINE_BATCHES)
    now = timezone.now()
    rows = [_another(like, number, now - timedelta(minutes=num_runs - number)) for number in range(num_runs)]
    Run.objects.bulk_create(rows, batch_size=500)
    RunStream.objects.bulk_create([RunStream(run=run) for run in rows], batch_size=500)
    drawn = rows[-num_with_curves:]
    with connection.cursor() as cursor:
        for run in drawn:
            common: dict[str, Any] = {
                "run": run.pk,
                "start": 0.0,
                "seconds": BATCH_SECONDS,
                "batches": NUM_SPARKLINE_BATCHES,
            }
            cursor.execute(_POINTS, {**common, "keys": ["reward/mean"]})
        _roll_up(drawn)
        cursor.execute("VACUUM ANALYZE")


def _running(user: User, project: Project, num_batches: int) -> Run:
    spec: dict[str, Any] = {
        "prompts": {"inline": ["a red square", "a blue circle"]},
        "rewards": [{"name": "shape_match"}],
        "batch": {"num_prompts_per_batch": 2, "group_size": 2},
        "num_batches": 2 * num_batches,
    }
    run = create_run(user=user, project=project, name="a long run", spec=spec)
    now = timezone.now()
    Attempt.objects.create(run=run, number=1, submitted_at=now, bootstrap_used_at=now, token_hash=hash_secret(TOKEN))
    Run.objects.filter(pk=run.pk).update(
        state="running", phase="train", attempt=1, started_at=now, last_heartbeat_at=now, num_batches_done=num_batches
    )
    return Run.objects.get(pk=run.pk)


def _another(like: Run, number: int, at: Any) -> Run:
    fields = {
        field.attname: getattr(like, field.attname)
        for field in Run._meta.concrete_fields
        if not field.generated and not field.primary_key
    }
    times = {"created_at": at, "started_at": at, "ended_at": at}
    own = {"name": f"sweep {number}", "state": "completed", "tags": ["sweep"], **times}
    headline = {"reward_before": 0.3, "reward_after": 0.7, "before": {}, "after": {}, "batch_after": 200}
    return Run(**{**fields, **own, "id": uuid.uuid4(), "headline": headline})


def _roll_up(runs: list[Run]) -> None:
    with connection.cursor() as cursor:
        for level in LEVELS:
            ids = [run.pk for run in runs]
            cursor.execute(_ROLLUPS, {"runs": ids, "level": level, "bits": BITS_PER_LEVEL * level})
