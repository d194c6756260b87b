"""Machines join the pool by one command, a run works on their GPUs, and a node that dies is lost, not free.

The GPUs are recorded traces and compute on this machine's CPU; Ray, its nodes and everything else are real.
"""

import pytest

from tests.e2e.own_pool.joined_nodes import Nodes
from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.node.traces import cards

pytestmark = [pytest.mark.e2e, pytest.mark.ray, pytest.mark.slow]


GOES_ON_SECONDS = 300.0
"""For the loss to be noticed, another attempt to be started on other GPUs, and a batch, on a busy machine."""


@pytest.mark.timeout(1200)
def test_a_run_goes_on_elsewhere_when_the_node_with_its_gpus_dies(rest: Rest, nodes: Nodes) -> None:
    nodes.join("big", cards("H100", 2))
    nodes.join("small", cards("L40S", 2))
    gpus = {"big": {"GPU-h100-0", "GPU-h100-1"}, "small": {"GPU-l40s-0", "GPU-l40s-1"}}
    assert {(gpu["node"], gpu["uuid"], gpu["state"]) for gpu in rest.results("/gpus")} == {
        (node, uuid, "available") for node, uuids in gpus.items() for uuid in uuids
    }

    run = rest.start_run("on GPUs", {**rest.preset("shapes-quick"), "num_batches": 1000})
    rest.run_when(run, lambda body: body["num_batches_done"] >= 1, "the first batch", START_SECONDS)
    ((dies, before),) = reported_gpus(rest, run).items()
    assert before == gpus[dies], "a gang is not cut over nodes"
    stays = next(name for name in gpus if name != dies)

    nodes.kill(dies)
    wait_until(lambda: {gpu["uuid"] for gpu in rest.results("/gpus?state=lost")} == before, "the loss", 120)
    assert {gpu["changed_by"] for gpu in rest.results("/gpus?state=lost")} == {"node agent"}
    rest.run_when(
        run,
        lambda body: body["attempt"] == 2 and body["state"] == "running" and body["num_batches_done"] >= 1,
        "batches elsewhere",
        GOES_ON_SECONDS,
    )
    assert reported_gpus(rest, run) == {stays: gpus[stays]}
    rest.act(run, "stop")
    rest.run_when(run, lambda body: body["state"] == "stopped", "the end", START_SECONDS)


def reported_gpus(rest: Rest, run: str) -> dict[str, set[str]]:
    """UUIDs of the GPUs that the lanes of the run say they see, by node."""
    found: dict[str, set[str]] = {}
    for lane in rest.get(f"/runs/{run}/timeline")["lanes"]:
        if lane["uuids"]:
            found.setdefault(lane["node"], set()).update(lane["uuids"])
    return found
