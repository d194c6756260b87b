from dataclasses import replace
from typing import Any

import pytest

from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import ShardInfo
from worker.engine.control.version_registry import VersionRegistry
from worker.engine.errors import SyncError
from worker.engine.types import PullReceipt

SHARD_INFO = ShardInfo(names=("a", "b", "c", "d"), num_bytes=64, sha256="right")
VERSION = RemoteVersion(policy_version=3, shard_infos=(SHARD_INFO,), refs=())


def pull(versions: VersionRegistry, lane: str, *, num_bound: int = 4, sha256: str = "right") -> None:
    receipt = PullReceipt(policy_version=3, num_bound_tensors=num_bound, sha256=sha256)
    versions.pulled(lane, receipt, generating_lanes=["a", "b"], at=12.5)


@pytest.fixture
def versions(client: Any) -> VersionRegistry:
    versions = VersionRegistry(client)
    versions.add(VERSION, began_at=12.0)
    return versions


def test_a_publish_is_told_once_when_every_lane_has_read_it_back(versions: VersionRegistry, client: Any) -> None:
    pull(versions, "a")
    assert client.events == []
    pull(versions, "b")
    pull(versions, "b")
    (event,) = client.events
    assert (event.policy_version, event.num_tensors, event.seconds) == (3, 4, 0.5)


@pytest.mark.parametrize(("changes", "told"), [({"num_bound": 0}, "got 0"), ({"sha256": "wrong"}, "got wrong")])
def test_a_sync_that_syncs_something_else_fails(versions: VersionRegistry, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(SyncError, match=told):
        pull(versions, "a", **changes)


def test_versions_no_lane_may_ask_for_are_let_go(versions: VersionRegistry) -> None:
    versions.keep_only({4})
    with pytest.raises(KeyError):
        versions[3]


def test_a_lent_lane_is_checked_alike_but_nobody_waits_for_it(versions: VersionRegistry, client: Any) -> None:
    with pytest.raises(SyncError, match="got wrong"):
        pull(versions, "lent", sha256="wrong")
    for lane in ("a", "lent", "b"):
        assert client.events == []
        pull(versions, lane)
    assert len(client.events) == 1


def test_a_version_that_not_every_lane_asked_for_is_told_when_it_is_let_go(
    versions: VersionRegistry, client: Any
) -> None:
    pull(versions, "a")
    versions.add(replace(VERSION, policy_version=4), began_at=13.0)
    versions.keep_only({5})
    (event,) = client.events
    assert (event.policy_version, event.seconds) == (3, 0.5)


def test_a_version_that_an_earlier_life_told_is_not_told_again(versions: VersionRegistry, client: Any) -> None:
    versions.add_restored(VERSION)
    pull(versions, "a")
    pull(versions, "b")
    assert client.events == []
    assert versions[3] is VERSION


def test_who_asks_for_a_version_gets_it_at_once_or_when_it_comes(client: Any) -> None:
    versions, got = VersionRegistry(client), list[RemoteVersion]()
    versions.when_available(3, got.append)
    assert not got
    versions.add(VERSION, began_at=12.0)
    assert got == [VERSION]
    versions.when_available(3, got.append)
    assert got == [VERSION, VERSION]
