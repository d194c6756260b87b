"""What the environment turns into."""

import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from server import environment
from server.embedded import folders
from server.embedded.ports import BLOCK_SIZE, NUM_BLOCKS, RayPorts, reserved_ray_ports
from server.errors import CannotStartError


def test_a_secret_is_made_once_private_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "secret"
    first = environment.read_or_create_secret(path)
    assert len(first) > 40
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert environment.read_or_create_secret(path) == first


def test_processes_that_start_at_once_agree_on_the_secret(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: environment.read_or_create_secret(path), range(32)))
    assert found == {path.read_text().strip()}
    assert list(tmp_path.iterdir()) == [path]


def test_celery_spells_a_socket_its_own_way() -> None:
    assert environment.celery_broker_url("unix:///tmp/valkey.sock") == "redis+socket:///tmp/valkey.sock"
    assert environment.celery_broker_url("redis://host:6379/0") == "redis://host:6379/0"


def test_shipped_models_are_always_a_model_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TANDEM_MODEL_ROOTS", "/models:/more")
    assert environment.model_roots() == [Path("/models"), Path("/more"), environment.ROOT / "deploy" / "models"]


def test_the_private_folder_follows_the_data_folder(tmp_path: Path) -> None:
    assert folders.runtime_folder(tmp_path) == folders.runtime_folder(tmp_path / "x" / "..")
    assert folders.runtime_folder(tmp_path) != folders.runtime_folder(tmp_path / "x")


def test_a_private_folder_too_long_for_sockets_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TANDEM_RUNTIME", "/tmp/" + "long/" * 20)
    with pytest.raises(CannotStartError, match="107"):
        folders.runtime_folder(tmp_path)


def test_a_private_folder_prepared_by_a_link_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TANDEM_RUNTIME", "/tmp")
    target = tmp_path / "elsewhere"
    target.mkdir()
    planted = folders.runtime_folder(tmp_path)
    planted.symlink_to(target)
    try:
        with pytest.raises(CannotStartError, match="is not a folder of user"):
            folders.make_runtime_folder(tmp_path)
    finally:
        planted.unlink()


@given(st.integers(1024, 65535))
def test_ray_ports_never_hold_the_web_port(web_port: int) -> None:
    with reserved_ray_ports(web_port) as ports:
        assert not ports.base <= web_port < ports.base + BLOCK_SIZE
        assert 10_000 <= ports.base < ports.workers[1] < 10_000 + NUM_BLOCKS * BLOCK_SIZE


def test_stacks_whose_ports_fall_together_get_different_blocks() -> None:
    with reserved_ray_ports(8800) as first, reserved_ray_ports(8800 + NUM_BLOCKS) as second:
        assert first.base != second.base


def test_the_ports_of_one_head_are_all_different() -> None:
    ports = RayPorts(10_000)
    single = {
        *(ports.gcs, ports.dashboard, ports.agent_listen, ports.agent_grpc, ports.runtime_env_agent),
        *(ports.metrics, ports.node_manager, ports.object_manager, ports.reservation),
    }
    assert len(single) == 9
    assert max(single) < ports.workers[0]
