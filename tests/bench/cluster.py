"""A local Ray cluster for benches, set up as the tests' own is: nothing reported home, token authentication on."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from tests.engine.driving import local_cluster


@contextmanager
def bench_cluster() -> Iterator[str]:
    """The address. The environment is set before Ray is first imported, since Ray reads it once."""
    os.environ |= {
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": secrets.token_hex(16),
        "OMP_NUM_THREADS": "1",
    }
    with local_cluster(num_cpus=8, resources={}) as address:
        yield address
