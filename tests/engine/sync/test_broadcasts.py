"""Broadcasts between trainer ranks and lanes, each of them a thread with groups of its own over loopback."""

import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

import pytest
import torch

from tests.engine.small_device import NoMemoryFor
from worker.engine.errors import BroadcastError, SyncError
from worker.engine.sync import broadcast_receiver, broadcast_sender
from worker.engine.sync.binding import bind
from worker.engine.sync.broadcast_plan import READY_SECONDS, BroadcastEndpoint, BroadcastPlan
from worker.engine.sync.broadcast_receiver import BroadcastReceiver
from worker.engine.sync.broadcast_sender import BroadcastSender
from worker.engine.sync.checksums import checksum
from worker.engine.sync.flat_shards import layout_of
from worker.engine.types import PullReceipt, version_checksum

CPU = torch.device("cpu")
Shards = Sequence[Mapping[str, torch.Tensor]]


def weights(seed: int) -> Shards:
    """Three shards, with odd sizes and two dtypes."""
    torch.manual_seed(seed)
    return (
        {"a": torch.randn(3, 5), "b": torch.randn(7).to(torch.bfloat16)},
        {"c": torch.randn(11, 2)},
        {"d": torch.randn(1), "e": torch.randn(130).to(torch.bfloat16)},
    )


def opened(num_sources: int) -> tuple[list[BroadcastSender], tuple[BroadcastEndpoint, ...]]:
    senders = [BroadcastSender("127.0.0.1", CPU) for _ in range(num_sources)]
    layouts = tuple(layout_of(shard) for shard in weights(0))
    return senders, tuple(BroadcastEndpoint(address="127.0.0.1", port=each.port, layouts=layouts) for each in senders)


def send(senders: Sequence[BroadcastSender], plan: BroadcastPlan, version: int, shards: Shards) -> list[str]:
    """Send from all sources at once; the errors."""

    def of(source: int) -> str:
        try:
            senders[source].send(plan, source, version, {index: shards[index] for index in plan.shards_of(source)})
        except BroadcastError as error:
            return str(error)
        return ""

    with ThreadPoolExecutor() as pool:
        return list(pool.map(of, range(len(senders))))


def pull(
    receiver: BroadcastReceiver, version: int, shards: Shards, *, number: int = 1
) -> tuple[PullReceipt | None, str]:
    """Bind a version to a model of another one, and read it back."""
    live = {name: torch.nn.Parameter(torch.full_like(tensor, 9)) for shard in shards for name, tensor in shard.items()}
    with receiver.taken(number, version, [checksum(shard) for shard in shards]) as (received, reason):
        return (None if received is None else bind(live, received)), reason


def started(receiver: BroadcastReceiver, plan: BroadcastPlan, version: int) -> threading.Thread:
    thread = threading.Thread(target=receiver.receive, args=(plan, version))
    thread.start()
    return thread


@pytest.mark.parametrize("num_sources", [1, 2])
def test_every_lane_binds_the_bits_of_every_version_that_was_broadcast(num_sources: int) -> None:
    senders, sources = opened(num_sources)
    receivers = {lane: BroadcastReceiver(lane, CPU) for lane in ("rollout-0", "rollout-1")}
    plan = BroadcastPlan(number=1, sources=sources, lanes=tuple(receivers))
    for version in range(3):
        shards = weights(version)
        threads = [started(receiver, plan, version) for receiver in receivers.values()]
        assert send(senders, plan, version, shards) == [""] * num_sources
        for receiver in receivers.values():
            receipt, reason = pull(receiver, version, shards)
            assert receipt is not None and not reason
            assert receipt.sha256 == version_checksum([checksum(shard) for shard in shards])
            assert receipt.num_bound_tensors == 5
        for thread in threads:
            thread.join()


def test_other_bits_than_were_published_are_refused_by_the_read_back() -> None:
    (sender,), sources = opened(1)
    receiver = BroadcastReceiver("rollout-0", CPU)
    plan = BroadcastPlan(number=1, sources=sources, lanes=("rollout-0",))
    thread = started(receiver, plan, 1)
    assert send([sender], plan, 1, weights(1)) == [""]
    with pytest.raises(SyncError, match="read back"):
        pull(receiver, 1, weights(2))
    thread.join()


def test_a_lane_that_is_not_there_ends_the_broadcast_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast_sender, "READY_SECONDS", 0.3)
    (sender,), sources = opened(1)
    receiver = BroadcastReceiver("rollout-0", CPU)
    plan = BroadcastPlan(number=1, sources=sources, lanes=("rollout-0", "rollout-1"))
    thread = started(receiver, plan, 1)
    with pytest.raises(BroadcastError, match="`rollout-1` was not there") as failed:
        sender.send(plan, 0, 1, dict(enumerate(weights(1))))
    assert failed.value.lanes == ("rollout-1",)
    error = str(failed.value)
    thread.join(10)
    assert not thread.is_alive()
    assert pull(receiver, 1, weights(1)) == (None, error)
    # A plan without the lane works with the same ranks.
    plan = BroadcastPlan(number=2, sources=sources, lanes=("rollout-0",))
    thread = started(receiver, plan, 2)
    assert send([sender], plan, 2, weights(2)) == [""]
    assert pull(receiver, 2, weights(2), number=2)[0] is not None
    thread.join()


@pytest.mark.parametrize("is_source", [True, False], ids=["source", "lane"])
def test_a_member_without_memory_ends_the_broadcast_of_one_version_with_what_to_change(is_source: bool) -> None:
    (sender,), sources = opened(1)
    receiver = BroadcastReceiver("rollout-0", CPU)
    plan = BroadcastPlan(number=1, sources=sources, lanes=("rollout-0",))
    small, whole = NoMemoryFor(100), nullcontext()

    def receive() -> None:
        with whole if is_source else small:
            receiver.receive(plan, 1)

    thread = threading.Thread(target=receive)
    thread.start()
    copies = dict(enumerate(weights(1)))
    with small if is_source else whole, pytest.raises(BroadcastError) as failed:
        sender.send(plan, 0, 1, copies)
    thread.join(10)
    assert not thread.is_alive()
    receipt, reason = pull(receiver, 1, weights(1))
    did = "broadcast" if is_source else "receive"
    wanted = f"by 2.5 GiB when it was to {did} policy version 1: set `pipeline.publishing` to `store`"
    assert receipt is None and wanted in reason
    assert wanted in str(failed.value)
    assert failed.value.lanes == (() if is_source else ("rollout-0",))
    # With memory again, the next version comes.
    thread = started(receiver, plan, 2)
    assert send([sender], plan, 2, weights(2)) == [""]
    thread.join(10)
    assert pull(receiver, 2, weights(2))[0] is not None


@pytest.mark.parametrize("without", ["rollout-0", "rollout-2"])
def test_a_lane_without_memory_makes_no_source_and_no_other_lane_wait(without: str) -> None:
    senders, sources = opened(2)
    receivers = {lane: BroadcastReceiver(lane, CPU) for lane in ("rollout-0", "rollout-1", "rollout-2")}
    plan = BroadcastPlan(number=1, sources=sources, lanes=tuple(receivers))

    def receive(lane: str) -> None:
        with NoMemoryFor(100) if lane == without else nullcontext():
            receivers[lane].receive(plan, 1)

    began = time.monotonic()
    with ThreadPoolExecutor() as pool:
        receiving = [pool.submit(receive, lane) for lane in receivers]
        errors = send(senders, plan, 1, weights(1))
        for each in receiving:
            each.result(READY_SECONDS)
    # All of it is store traffic over loopback: milliseconds, and seconds on a machine that does other work.
    assert time.monotonic() - began < READY_SECONDS / 2
    assert all(f"lane `{without}` cannot receive it: a device ran out of memory" in error for error in errors)
    for lane, receiver in receivers.items():
        receipt, reason = pull(receiver, 1, weights(1))
        assert receipt is None and "ran out of memory" in reason
        assert (f"`{without}`" in reason) is (lane != without), "the others are told which lane it was"
    # The same sources broadcast the next version to the others.
    del receivers[without]
    plan = BroadcastPlan(number=2, sources=sources, lanes=tuple(receivers))
    threads = [started(receiver, plan, 2) for receiver in receivers.values()]
    assert send(senders, plan, 2, weights(2)) == ["", ""]
    for thread in threads:
        thread.join(READY_SECONDS)
    assert all(pull(receiver, 2, weights(2), number=2)[0] is not None for receiver in receivers.values())


def test_a_source_stops_waiting_when_the_driver_says_so() -> None:
    (sender,), sources = opened(1)
    plan = BroadcastPlan(number=1, sources=sources, lanes=("rollout-0",))
    began = time.monotonic()
    threading.Timer(0.2, sender.stop, [1, "lane `rollout-0` was lost"]).start()
    assert send([sender], plan, 1, weights(1)) == ["lane `rollout-0` was lost"]
    assert time.monotonic() - began < 5


def test_a_lane_stops_waiting_when_the_driver_says_so() -> None:
    senders, sources = opened(1)
    receiver = BroadcastReceiver("rollout-0", CPU)
    thread = started(receiver, BroadcastPlan(number=1, sources=sources, lanes=("rollout-0",)), 1)
    time.sleep(0.2)
    assert senders and thread.is_alive()
    receiver.stop(1, "a trainer lane was lost")
    thread.join(5)
    assert not thread.is_alive()
    assert pull(receiver, 1, weights(1)) == (None, "a trainer lane was lost")


def test_a_lane_whose_source_is_gone_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(broadcast_receiver, "CONNECT_SECONDS", 0.3)
    sources = opened(1)[1]
    receiver = BroadcastReceiver("rollout-0", CPU)
    thread = started(receiver, BroadcastPlan(number=1, sources=sources, lanes=("rollout-0",)), 1)
    thread.join(15)
    assert not thread.is_alive()
    receipt, reason = pull(receiver, 1, weights(1))
    assert receipt is None and reason


def test_a_lane_that_received_another_version_says_which() -> None:
    (sender,), sources = opened(1)
    receiver = BroadcastReceiver("rollout-0", CPU)
    assert pull(receiver, 1, weights(1)) == (None, "its process was started later")
    plan = BroadcastPlan(number=1, sources=sources, lanes=("rollout-0",))
    for version in (1, 2):
        thread = started(receiver, plan, version)
        assert send([sender], plan, version, weights(version)) == [""]
        thread.join()
    assert pull(receiver, 1, weights(1)) == (None, "it has received version 2 since")


def test_buffers_are_not_written_while_a_version_is_bound() -> None:
    (sender,), sources = opened(1)
    receiver = BroadcastReceiver("rollout-0", CPU)
    plan = BroadcastPlan(number=1, sources=sources, lanes=("rollout-0",))
    thread = started(receiver, plan, 1)
    assert send([sender], plan, 1, weights(1)) == [""]
    thread.join()
    with ThreadPoolExecutor() as pool:
        with receiver.taken(1, 1, [checksum(shard) for shard in weights(1)]) as (received, _):
            thread = started(receiver, plan, 2)
            sending = pool.submit(send, [sender], plan, 2, weights(2))
            time.sleep(0.3)
            assert received is not None and not sending.done()
            for shard, published in zip(received.shards(), weights(1), strict=True):
                assert checksum(shard.tensors) == checksum(published)
        assert sending.result(10) == [""]
    thread.join()
    assert pull(receiver, 2, weights(2))[0] is not None
