from dataclasses import replace
from typing import Any

import pytest

from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.control.version_registry import VersionRegistry
from worker.engine.errors import SyncError
from worker.engine.types import PullReceipt, ShardInfo

SHARD_INFO = ShardInfo(names=("a", "b", "c", "d"), num_bytes=64, sha256="a" * 64)
VERSION = RemoteVersion(policy_version=3, shard_infos=(SHARD_INFO,), refs=())


def pull(versions: VersionRegistry, lane: str, *, num_bound: int = 4, sha256: str = "a" * 64) -> None:
    receipt = PullReceipt(policy_version=3, num_bound_tensors=num_bound, sha256=sha256)
    versions.pulled(lane, receipt, generating_lanes=["a", "b"], at=12.5)


@pytest.fixture
def versions(client: Any) -> VersionRegistry:
    versions = VersionRegistry(client)
    versions.add(VERSION, began_at=12.0)
    return versions


def test_a_publish_is_reported_once_when_every_lane_has_pulled_it(versions: VersionRegistry, client: Any) -> None:
    pull(versions, "a")
    assert client.events == []
    pull(versions, "b")
    pull(versions, "b")
    (event,) = client.events
    assert (event.policy_version, event.num_tensors, event.seconds) == (3, 4, 0.5)


@pytest.mark.parametrize(("changes", "message"), [({"num_bound": 0}, "got 0"), ({"sha256": "b" * 64}, "got bbb")])
def test_a_pull_of_other_weights_than_were_published_fails(
    versions: VersionRegistry, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(SyncError, match=message):
        pull(versions, "a", **changes)


def test_versions_that_are_no_longer_needed_are_dropped(versions: VersionRegistry) -> None:
    versions.keep_only({4})
    with pytest.raises(KeyError):
        versions[3]


def test_the_pull_of_a_lent_lane_is_checked_but_not_waited_for(versions: VersionRegistry, client: Any) -> None:
    with pytest.raises(SyncError, match="got bbb"):
        pull(versions, "lent", sha256="b" * 64)
    for lane in ("a", "lent", "b"):
        assert client.events == []
        pull(versions, lane)
    assert len(client.events) == 1


def test_a_version_that_not_every_lane_pulled_is_reported_when_it_is_dropped(
    versions: VersionRegistry, client: Any
) -> None:
    pull(versions, "a")
    versions.add(replace(VERSION, policy_version=4), began_at=13.0)
    versions.keep_only({5})
    (event,) = client.events
    assert (event.policy_version, event.seconds) == (3, 0.5)


def test_a_version_from_a_checkpoint_is_not_reported_again(versions: VersionRegistry, client: Any) -> None:
    versions.add_restored(VERSION)
    pull(versions, "a")
    pull(versions, "b")
    assert client.events == []
    assert versions[3] is VERSION


def test_a_callback_receives_a_version_at_once_or_when_it_is_published(client: Any) -> None:
    versions, received = VersionRegistry(client), list[RemoteVersion]()
    versions.when_available(3, received.append)
    assert not received
    versions.add(VERSION, began_at=12.0)
    assert received == [VERSION]
    versions.when_available(3, received.append)
    assert received == [VERSION, VERSION]


def test_the_report_says_how_many_lanes_a_broadcast_reached_and_missed(versions: VersionRegistry, client: Any) -> None:
    receipt = PullReceipt(policy_version=3, num_bound_tensors=4, sha256="a" * 64, is_direct=True)
    versions.pulled("a", receipt, generating_lanes=["a", "b"], at=12.5)
    late = replace(receipt, is_direct=False, missed="its process was started later")
    versions.pulled("b", late, generating_lanes=["a", "b"], at=12.5)
    (event,) = client.events
    assert (event.num_direct, event.num_missed) == (1, 1)
