"""`python -m tests.bench.overhead_local SPEC BATCHES`: batches of `worker.engine.local`; prints their costs as JSON.

A process of its own for `tests.bench.overhead`, so that start, imports and memory are those of one fresh process.
"""

import json
import socket
import sys
import time
from pathlib import Path

import psutil

from worker.engine.local import LocalRun, read_spec
from worker.engine.trainer.zero.process_group import destroy_process_group, init_process_group


def main() -> None:
    spec, num_batches = read_spec(Path(sys.argv[1])), int(sys.argv[2])
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    init_process_group(0, 1, "127.0.0.1", port)
    run = LocalRun(spec, str(Path("deploy/models") / spec.base_model.path))
    cpu_seconds, ends = [], []
    for _ in range(num_batches):
        began = time.process_time()
        run.train_batch()
        cpu_seconds.append(time.process_time() - began)
        ends.append(time.time())
    memory_mb = psutil.Process().memory_full_info().pss / 1e6
    print(json.dumps({"cpu_seconds": cpu_seconds, "ends": ends, "memory_mb": memory_mb}))
    destroy_process_group()


if __name__ == "__main__":
    main()
