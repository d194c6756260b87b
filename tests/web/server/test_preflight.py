"""What is in the way is said before anything starts, with what to do about it."""

import multiprocessing
import os
import socket
from pathlib import Path

import pytest

from server.embedded.ports import reserved_ray_ports
from server.errors import CannotStartError
from server.stack import preflight
from server.stack.lock import folder_lock


def test_a_busy_port_is_named_with_its_owner_and_another_one() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        port = listener.getsockname()[1]
        with pytest.raises(CannotStartError, match=rf"(?s){port} is busy.*{os.getpid()}.*TANDEM_PORT={port + 1}"):
            preflight.check_port(port, "127.0.0.1")
    preflight.check_port(port, "127.0.0.1")


def test_ray_passes_over_a_block_with_a_busy_port() -> None:
    with reserved_ray_ports(8800) as wanted:
        pass
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", wanted.dashboard))
        listener.listen(1)
        with reserved_ray_ports(8800) as given:
            assert given.base != wanted.base


def test_a_full_disk_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CannotStartError, match=r"GiB are free.*TANDEM_VAR"):
        preflight.check_disk(tmp_path, min_free_bytes=2**60)


def test_a_data_folder_that_cannot_be_written_is_refused(tmp_path: Path) -> None:
    a_file = tmp_path / "file"
    a_file.touch()
    with pytest.raises(CannotStartError, match=r"cannot be written.*TANDEM_VAR"):
        preflight.check_folder(a_file / "var")


def _take_and_hold(var: Path, taken: "multiprocessing.synchronize.Event") -> None:
    with folder_lock(var):
        taken.set()
        multiprocessing.Event().wait()


def test_a_second_up_on_one_folder_is_refused_until_the_first_is_gone(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    taken = context.Event()
    first = context.Process(target=_take_and_hold, args=(tmp_path, taken))
    first.start()
    try:
        assert taken.wait(30)
        with (
            pytest.raises(CannotStartError, match=rf"Another `up` \(process {first.pid}\)"),
            folder_lock(tmp_path),
        ):
            pass
    finally:
        first.kill()
        first.join()
    with folder_lock(tmp_path):
        assert (tmp_path / "up.lock").read_text() == str(os.getpid())
