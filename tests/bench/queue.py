"""What the queue costs: forecast of all starts, one round of dispatch, and the page's rows, with many runs waiting.

    python -m tests.bench.queue [--nodes 64] [--gpus 8] [--waiting 1000] [--rounds 5] [--out var/bench/queue.json]

The pool is that of `tests.bench.seeded_pool`, on a PostgreSQL of its own. Every run that holds lanes has measured its
batches, and so have runs like those that wait, so that every end is known: unknown ends cost less. The round of
dispatch is one that starts nobody: the first run does not fit, and none behind it may start without delaying it, which
is what most rounds are.
"""

import argparse
import json
import os
import random
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

from tests.bench.pool import set_up_django, table

NUM_PROJECTS = 10
GPUS_WANTED = (4, 8, 16, 32, 64)


def fill_queue(num_waiting: int) -> None:
    """Runs of ten projects that wait, and the paces that forecasts rest on."""
    from accounts.models import User
    from accounts.services import create_project
    from runs.attempts.attempts import mint
    from runs.forecast.paces import likeness_of
    from runs.models import Attempt, Run, RunPace, RunStream
    from runs.planning.auto_placement import ResolvedPlacement
    from runs.services import create_run

    chance = random.Random(7)
    admin = User.objects.get(username="admin")
    now = time.time()
    for run in Run.objects.all():
        Run.objects.filter(pk=run.pk).update(state="running", num_batches=chance.randrange(100, 1000))
        attempt = mint(run, 1, ResolvedPlacement(run.run_spec))
        Attempt.objects.filter(pk=attempt.pk).update(submitted_at=attempt.created_at)
        RunPace.objects.create(
            run=run,
            attempt=1,
            likeness=likeness_of(run),
            version=20,
            published_at=now,
            start_seconds=60.0,
            batch_seconds=[chance.uniform(50, 70) for _ in range(32)],
        )
    projects = [create_project(user=admin, name=f"project {number}") for number in range(NUM_PROJECTS)]
    made: dict[int, Run] = {}
    for number in range(num_waiting):
        wanted = GPUS_WANTED[number % len(GPUS_WANTED)]
        spec: dict[str, Any] = {
            "prompts": {"inline": ["a red square", "a blue circle"]},
            "rewards": [{"name": "shape_match"}],
            "batch": {"num_prompts_per_batch": 2, "group_size": 2},
            "num_batches": chance.randrange(10, 500),
            "lanes": {"num_rollout": wanted * 3 // 4, "num_trainer": wanted // 4},
        }
        if wanted in made:
            # The row of a run of this size, with its own length: a thousand validations would take minutes.
            run = Run.objects.get(pk=made[wanted].pk)
            run.id, run.name, run.num_batches = uuid.uuid4(), f"waiting {number}", spec["num_batches"]
            run.project = projects[number % NUM_PROJECTS]
            run.save(force_insert=True)
            RunStream.objects.create(run=run)
        else:
            made[wanted] = create_run(
                user=admin, project=projects[number % NUM_PROJECTS], name=f"waiting {number}", spec=spec
            )
    for number, run in enumerate(made.values()):
        RunPace.objects.create(
            run=run,
            attempt=0,
            likeness=likeness_of(run),
            version=20,
            published_at=now,
            start_seconds=60.0,
            batch_seconds=[40.0 + number + chance.uniform(0, 5) for _ in range(32)],
        )


def measure(var: Path, num_nodes: int, num_gpus: int, num_waiting: int, num_rounds: int) -> dict[str, Any]:
    from accounts.models import User
    from fleet.models import Gpu, Lane, Node
    from fleet.selectors import free_lanes, held_lanes_of
    from runs.queue.dispatch import dispatch_waiting
    from runs.queue.queue_board import queue_rows, running_rows
    from runs.queue.queue_forecast import admission, forecast
    from runs.run_queue import current_queue
    from server.embedded.local_servers import database_and_broker
    from server.stack.first_start import migrate_and_collect
    from tests.bench.pool_figures import timed
    from tests.bench.seeded_pool import seed
    from worker.contracts.lanes import DEFAULT_POOL

    with database_and_broker(var):
        migrate_and_collect()
        seed(num_nodes, num_gpus)
        fill_queue(num_waiting)
        while dispatch_waiting():
            pass
        admin = User.objects.get(username="admin")
        queue = current_queue(DEFAULT_POOL)
        expected = forecast(queue, DEFAULT_POOL)

        def asked_all() -> None:
            admitted, demands = admission(queue.in_turn, DEFAULT_POOL)
            for run in queue.in_turn:
                (admitted.started if admitted.may_start(demands[run.pk]) else admitted.waits)(demands[run.pk])

        figures = {
            "the queue's order": timed(lambda: current_queue(DEFAULT_POOL), num_rounds),
            "forecast of all starts": timed(lambda: forecast(queue, DEFAULT_POOL), num_rounds),
            "admission asked for every run": timed(asked_all, num_rounds),
            "a round of dispatch that starts nobody": timed(dispatch_waiting, num_rounds),
            "rows of the board": timed(lambda: queue_rows(admin, DEFAULT_POOL), num_rounds),
            "rows of the holders": timed(lambda: running_rows(admin, DEFAULT_POOL), num_rounds),
        }
        return {
            "num_nodes": Node.objects.count(),
            "num_gpus": Gpu.objects.count(),
            "num_lanes": Lane.objects.count(),
            "num_waiting": len(queue.order),
            "num_known_starts": len(expected.starts),
            "num_holders": len({lane.run_id for lane in held_lanes_of(DEFAULT_POOL)}),
            "num_free": sum(free_lanes(DEFAULT_POOL).values()),
            "num_cores": os.cpu_count(),
            "load": os.getloadavg()[0],
            "figures": figures,
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--nodes", type=int, default=64)
    parser.add_argument("--gpus", type=int, default=8)
    parser.add_argument("--waiting", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, default=Path("var/bench/queue.json"))
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        set_up_django(Path(folder), port=8872)
        result = measure(Path(folder), arguments.nodes, arguments.gpus, arguments.waiting, arguments.rounds)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(result, indent=1))
    print(table(result))
    print({name: value for name, value in result.items() if name.startswith("num_")})


if __name__ == "__main__":
    main()
