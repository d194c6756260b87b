from dataclasses import replace
from typing import Any

import pytest

from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.actors.reports import ShardFacts
from worker.engine.control.version_registry import VersionRegistry
from worker.engine.errors import SyncError
from worker.engine.types import PullReceipt

FACTS = ShardFacts(names=("a", "b", "c", "d"), num_bytes=64, sha256="right")
VERSION = RemoteVersion(policy_version=3, facts=(FACTS,), refs=())


def pull(offers: VersionRegistry, lane: str, *, num_bound: int = 4, sha256: str = "right") -> None:
    receipt = PullReceipt(policy_version=3, num_bound_tensors=num_bound, sha256=sha256)
    offers.pulled(lane, receipt, generating_lanes=["a", "b"], at=12.5)


@pytest.fixture
def offers(client: Any) -> VersionRegistry:
    offers = VersionRegistry(client)
    offers.offer(VERSION, began_at=12.0)
    return offers


def test_a_publish_is_told_once_when_every_lane_has_read_it_back(offers: VersionRegistry, client: Any) -> None:
    pull(offers, "a")
    assert client.events == []
    pull(offers, "b")
    pull(offers, "b")
    (event,) = client.events
    assert (event.policy_version, event.num_tensors, event.seconds) == (3, 4, 0.5)


@pytest.mark.parametrize(("changes", "told"), [({"num_bound": 0}, "got 0"), ({"sha256": "wrong"}, "got wrong")])
def test_a_sync_that_syncs_something_else_fails(offers: VersionRegistry, changes: dict[str, Any], told: str) -> None:
    with pytest.raises(SyncError, match=told):
        pull(offers, "a", **changes)


def test_versions_no_lane_may_ask_for_are_let_go(offers: VersionRegistry) -> None:
    offers.keep_only({4})
    with pytest.raises(KeyError):
        offers.version(3)


def test_a_lent_lane_is_checked_alike_but_nobody_waits_for_it(offers: VersionRegistry, client: Any) -> None:
    with pytest.raises(SyncError, match="got wrong"):
        pull(offers, "lent", sha256="wrong")
    for lane in ("a", "lent", "b"):
        assert client.events == []
        pull(offers, lane)
    assert len(client.events) == 1


def test_a_version_that_not_every_lane_asked_for_is_told_when_it_is_let_go(
    offers: VersionRegistry, client: Any
) -> None:
    pull(offers, "a")
    offers.offer(replace(VERSION, policy_version=4), began_at=13.0)
    offers.keep_only({5})
    (event,) = client.events
    assert (event.policy_version, event.seconds) == (3, 0.5)


def test_a_version_that_an_earlier_life_told_is_not_told_again(offers: VersionRegistry, client: Any) -> None:
    offers.offer_again(VERSION)
    pull(offers, "a")
    pull(offers, "b")
    assert client.events == []
    assert offers.version(3) is VERSION


def test_who_asks_for_a_version_gets_it_at_once_or_when_it_comes(client: Any) -> None:
    offers, got = VersionRegistry(client), list[RemoteVersion]()
    offers.once_offered(3, got.append)
    assert not got
    offers.offer(VERSION, began_at=12.0)
    assert got == [VERSION]
    offers.once_offered(3, got.append)
    assert got == [VERSION, VERSION]
