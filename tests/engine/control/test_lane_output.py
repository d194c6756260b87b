"""What a lane printed before it died reaches the run's log."""

import logging
import os
import socket
from pathlib import Path

import pytest
import ray

from worker.engine.actors.reports import LaneLocation
from worker.engine.control.lane_output import MAX_CHARACTERS, end_of_file, log_last_output

WATCHDOG = "[Rank 1] Watchdog caught collective operation timeout"


def test_of_a_long_file_the_end_is_read(tmp_path: Path) -> None:
    (tmp_path / "worker-a-12.err").write_text("x" * 5000 + f"\n{WATCHDOG} ✗\n*** SIGABRT received\n" + "y" * 9000)
    (tmp_path / "worker-a-123.err").write_text("of another process")
    found = end_of_file(tmp_path, "worker-*-12.err")
    assert found.endswith(f"{WATCHDOG} ✗")
    assert len(found) <= MAX_CHARACTERS
    assert end_of_file(tmp_path, "worker-*-9.err") == ""


def test_a_lane_that_was_never_up_has_written_nothing(caplog: pytest.LogCaptureFixture) -> None:
    log_last_output("trainer-1", None)
    assert not caplog.messages


class Aborting:
    """Dies as a rank does whose collective timed out."""

    def location(self) -> LaneLocation:
        node = ray.get_runtime_context().get_node_id()
        return LaneLocation(node=socket.gethostname(), pid=os.getpid(), node_id=node)

    def die(self) -> None:
        os.write(2, f"{WATCHDOG}\n".encode())
        os.abort()


@pytest.mark.slow
def test_what_an_aborted_process_wrote_is_logged_and_a_node_that_is_gone_ends_nothing(
    ray_address: str, caplog: pytest.LogCaptureFixture
) -> None:
    actor = ray.remote(num_cpus=0)(Aborting).remote()
    location = ray.get(actor.location.remote())
    with pytest.raises(ray.exceptions.RayActorError):
        ray.get(actor.die.remote())
    with caplog.at_level(logging.INFO, logger="worker"):
        log_last_output("trainer-1", location)
        assert f"lane trainer-1 wrote last to stderr:\n{WATCHDOG}" in caplog.text
        log_last_output("trainer-2", LaneLocation(node="gone", pid=1, node_id="a" * 56))
    assert "what lane trainer-2 wrote last cannot be read" in caplog.text
