"""The measurements of `tests.bench.api`. Django must be set up before this is imported."""

import itertools
import logging
import statistics
import threading
import time
from collections.abc import Callable
from pathlib import Path

import httpx
from django.db import connection

from accounts.api_tokens import TokenWish, create_token
from accounts.models import Project, User
from runs.models import Run
from tests.bench.export_figures import export_figures
from tests.bench.percentiles import p95
from tests.bench.pool_figures import served
from tests.bench.seeded_pool import seed
from tests.bench.seeded_telemetry import TOKEN, Size, last_seq, seed_list, seed_run

NUM_ROWS = 100
NUM_KEYS = 50
"""Metrics of a batch: what an image run with several rewards reports."""
NUM_INGESTED_BATCHES = 400
KEYS = "reward/mean,reward/std,eval/reward,policy/kl"
Figures = dict[str, float]
Ask = Callable[[httpx.Client], httpx.Response]


def measure(
    var: Path, port: int, *, num_runs: int, num_points: int, num_clients: int, seconds: float
) -> dict[str, Figures]:
    with served(var, port) as address:
        seed(1, 8)
        admin, project = User.objects.get(username="admin"), Project.objects.get(name="Shapes")
        seed_list(admin, project, num_runs, NUM_ROWS)
        size = Size(num_points=num_points, num_keys=NUM_KEYS, num_lanes=8, num_spans=8000)
        run = seed_run(admin, project, size)
        _, token = create_token(user=admin, wish=TokenWish())
        figures = {
            name: asked_by(num_clients, address, token, ask, seconds) for name, ask in requests_of(run, project).items()
        }
        figures |= export_figures(address, token, seed_run(admin, project, Size()))
        small = seed_run(admin, project, Size(num_points=NUM_KEYS, num_keys=NUM_KEYS, num_lanes=8, num_spans=8))
        figures["points taken in from a driver"] = ingest(address, small)
        figures["points written by MLflow's log_batch"] = log_batches()
    return figures


def requests_of(run: Run, project: Project) -> dict[str, Ask]:
    numbers = itertools.count()
    spec = run.spec | {"num_batches": 2}

    def create(http: httpx.Client) -> httpx.Response:
        body = {"project": str(project.pk), "name": f"created {next(numbers)}", "spec": spec}
        return http.post("/api/v1/runs", json=body)

    return {
        f"list: {NUM_ROWS} of the runs": lambda http: http.get("/api/v1/runs", params={"limit": NUM_ROWS}),
        "list: their id and state alone": lambda http: http.get(
            "/api/v1/runs", params={"limit": NUM_ROWS, "fields": "id,state"}
        ),
        "detail of a run": lambda http: http.get(f"/api/v1/runs/{run.pk}"),
        "metrics: four curves in 500 points": lambda http: http.get(
            f"/api/v1/runs/{run.pk}/metrics", params={"keys": KEYS, "max_points": 500}
        ),
        "create a run": create,
    }


def asked_by(num_clients: int, address: str, token: str, ask: Ask, seconds: float) -> Figures:
    """Clients that ask again as soon as they are answered. Raises for an answer that is a refusal."""
    taken: list[float] = []
    failures: list[Exception] = []
    warm = threading.Barrier(num_clients)

    def work() -> None:
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}, timeout=60) as http:
            try:
                ask(http).raise_for_status()
                warm.wait()
                end = time.monotonic() + seconds
                while time.monotonic() < end:
                    began = time.perf_counter()
                    ask(http).raise_for_status()
                    taken.append((time.perf_counter() - began) * 1000)
            except httpx.HTTPError as error:
                failures.append(error)
                warm.abort()
            except threading.BrokenBarrierError:
                return

    clients = [threading.Thread(target=work) for _ in range(num_clients)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    if failures:
        raise failures[0]
    return {"a second": len(taken) / seconds, "median ms": statistics.median(taken), "p95 ms": p95(taken)}


def ingest(address: str, run: Run) -> Figures:
    """One driver that sends a batch's metrics in a post, and the next when that is committed."""
    first = last_seq(1) + 1
    taken: list[float] = []
    with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {TOKEN}"}, timeout=60) as http:
        for nth in range(NUM_INGESTED_BATCHES):
            values = {f"eval/part/reward_{index}": nth + index / 100 for index in range(NUM_KEYS)}
            body = {"type": "metrics", "batch": 2 + nth, "optimizer_step": 2 + nth, "values": values}
            event = {"seq": first + nth, "at": time.time(), **body}
            began = time.perf_counter()
            path = f"/api/ingest/v1/runs/{run.pk}/attempts/1/events"
            http.post(path, json={"events": [event]}).raise_for_status()
            taken.append(time.perf_counter() - began)
    return _points(taken)


def log_batches() -> Figures:
    """The same points by MLflow's client, whose store writes to a database of its own on the same server."""
    from mlflow import MlflowClient
    from mlflow.entities import Metric

    logging.getLogger("mlflow").setLevel(logging.WARNING)
    client = MlflowClient(tracking_uri=_database_of_mlflow())
    run = client.create_run(client.create_experiment("bench"))
    taken: list[float] = []
    for nth in range(NUM_INGESTED_BATCHES):
        now = int(time.time() * 1000)
        metrics = [Metric(f"eval/part/reward_{index}", nth + index / 100, now, nth) for index in range(NUM_KEYS)]
        began = time.perf_counter()
        client.log_batch(run.info.run_id, metrics=metrics, synchronous=True)
        taken.append(time.perf_counter() - began)
    return _points(taken)


def _database_of_mlflow() -> str:
    """A database of its own on the same server."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE DATABASE mlflow")
        host, user = cursor.connection.info.host, cursor.connection.info.user
    return f"postgresql+psycopg://{user}@/mlflow?host={host}"


def _points(taken: list[float]) -> Figures:
    return {
        "a second": NUM_KEYS * len(taken) / sum(taken),
        "median ms of a batch": statistics.median(taken) * 1000,
        "p95 ms": p95(taken) * 1000,
    }
