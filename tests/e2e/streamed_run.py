"""A web with one live run whose driver is whoever has its token: `python -m tests.e2e.streamed_run FOLDER PORT`.

It prints a line of JSON, what a client needs, and ends when its standard input does. A process of its own, since Django
and Playwright's event loop do not share a thread.
"""

import json
import sys
from pathlib import Path

from tests.bench.pool import set_up_django


def main() -> None:
    folder, port = Path(sys.argv[1]), int(sys.argv[2])
    set_up_django(folder, port)
    from accounts.models import Project, User
    from tests.bench.pool_figures import served
    from tests.bench.seeded_pool import seed
    from tests.bench.seeded_telemetry import TOKEN, Size, seed_run

    with served(folder, port) as address:
        session = seed(1, 4).session
        user, project = User.objects.get(username="admin"), Project.objects.get(name="Shapes")
        run = seed_run(user, project, Size(num_points=1000, num_keys=10, num_lanes=4, num_spans=400))
        print(json.dumps({"address": address, "run": str(run.pk), "token": TOKEN, "session": session}), flush=True)
        sys.stdin.read()


if __name__ == "__main__":
    main()
