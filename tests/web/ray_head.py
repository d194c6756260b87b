"""A Ray head of a test's own that is asked by HTTP, as the web asks the pool's."""

from collections.abc import Iterator
from contextlib import contextmanager

from pytest_django.fixtures import Settings
from ray.cluster_utils import Cluster

from tests.e2e.stack import free_port


@contextmanager
def ray_head(settings: Settings) -> Iterator[Cluster]:
    """A cluster of a head alone, without GPUs; `RAY_ADDRESS` leads to it until the block ends."""
    port = free_port()
    head = {
        "num_cpus": 1,
        "include_dashboard": True,
        "dashboard_host": "127.0.0.1",
        "dashboard_port": port,
        # Ray's own is one number for all, and without it an agent of a second head takes no jobs.
        "dashboard_agent_listen_port": free_port(),
    }
    made = Cluster(initialize_head=True, head_node_args=head)
    settings.RAY_ADDRESS = f"http://127.0.0.1:{port}"
    try:
        yield made
    finally:
        made.shutdown()
