"""Frames: batched, ordered, never an error for the caller."""

import asyncio
import os
import threading
import time
from typing import Any

from live.frame_sender import MAX_WAITING_MESSAGES, FrameSender, Message
from live.publish import MAX_FRAME_BYTES, merge_items, merge_pool, merge_runs


def item(number: int, text: str = "") -> Message:
    return {"items": [{"stream_seq": number, "type": "log", "at": 1.0, "attempt": 1, "body": {"message": text}}]}


class Recorder:
    def __init__(self) -> None:
        self.frames: list[tuple[str, Message]] = []

    async def send(self, group: str, frame: Message) -> None:
        self.frames.append((group, frame))


def test_a_burst_leaves_as_few_frames_and_loses_nothing() -> None:
    recorder = Recorder()
    sender = FrameSender(recorder.send, max_frames_per_second=20)
    for number in range(1, 501):
        sender.put("run.a", item(number), merge_items)
    assert sender.flush()
    numbers = [entry["stream_seq"] for _, frame in recorder.frames for entry in frame["items"]]
    assert numbers == list(range(1, 501))
    assert sender.num_frames_sent == len(recorder.frames) <= 10


def test_a_group_gets_at_most_the_frames_a_second_it_may() -> None:
    recorder = Recorder()
    sender = FrameSender(recorder.send, max_frames_per_second=50)
    started = time.monotonic()
    for number in range(1, 60):
        sender.put("run.a", item(number), merge_items)
        time.sleep(0.005)
    assert sender.flush()
    assert len(recorder.frames) <= (time.monotonic() - started) * 50 + 1


def test_groups_do_not_wait_for_each_other() -> None:
    recorder = Recorder()
    sender = FrameSender(recorder.send)
    for group in ("run.a", "run.b", "run.c"):
        sender.put(group, item(1), merge_items)
    assert sender.flush()
    assert sorted(group for group, _ in recorder.frames) == ["run.a", "run.b", "run.c"]


def test_while_the_broker_is_away_lost_messages_are_counted_without_an_error() -> None:
    async def refuse(group: str, frame: Message) -> None:
        raise ConnectionError("no broker")

    sender = FrameSender(refuse, max_frames_per_second=200)
    for number in range(1, 4):
        sender.put("run.a", item(number), merge_items)
    assert sender.flush()
    assert sender.num_messages_lost == 3
    assert sender.num_frames_sent == 0


def test_a_slow_broker_keeps_a_bounded_backlog() -> None:
    busy, released = threading.Event(), threading.Event()

    async def slow(group: str, frame: Message) -> None:
        busy.set()
        while not released.is_set():
            await asyncio.sleep(0.01)

    sender = FrameSender(slow)
    sender.put("run.a", item(1), merge_items)
    assert busy.wait(5)
    for number in range(MAX_WAITING_MESSAGES + 500):
        sender.put("run.a", item(number + 2), merge_items)
    released.set()
    assert sender.flush()
    assert sender.num_messages_lost == 500


def test_a_forked_child_sends_with_a_thread_of_its_own() -> None:
    recorder = Recorder()
    sender = FrameSender(recorder.send)
    sender.put("run.a", item(1), merge_items)
    assert sender.flush()
    child = os.fork()
    if child == 0:
        sender.put("run.a", item(2), merge_items)
        os._exit(0 if sender.flush(2.0) and len(recorder.frames) == 2 else 1)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_items_of_a_frame_are_in_stream_order() -> None:
    frame = merge_items([item(3), item(1), item(2)])
    assert [entry["stream_seq"] for entry in frame["items"]] == [1, 2, 3]
    assert frame["last_seq"] == 3


def test_an_oversized_frame_carries_its_number_only() -> None:
    frame = merge_items([item(1), item(2, "x" * MAX_FRAME_BYTES)])
    assert frame["items"] == []
    assert frame["last_seq"] == 2


def test_of_one_run_in_a_frame_the_latest_counts() -> None:
    frame = merge_runs([{"runs": [{"id": "a", "state": "queued"}]}, {"runs": [{"id": "a", "state": "running"}]}])
    assert frame["runs"] == [{"id": "a", "state": "running"}]


def pool_message(**fields: Any) -> Message:
    return {"changed": [], "at": None, "alive": [], "nodes": {}, "gpus": {}, "queue": False, **fields}


def test_of_several_reports_in_a_frame_the_newest_values_of_each_gpu_are_sent() -> None:
    frame = merge_pool(
        [
            pool_message(at=1.0, alive=[1], gpus={5: {"power": 100.0}, 6: {"power": None}}),
            pool_message(changed=[3, 1]),
            pool_message(at=2.0, alive=[1, 2], gpus={5: {"power": 200.0}}, changed=[1]),
        ]
    )
    assert frame["gpus"] == {"ids": [5, 6], "values": {"power": [200.0, None]}}
    assert (frame["at"], frame["alive"], frame["changed"]) == (2.0, [1, 2], [1, 3])
    assert frame["nodes"] == {"ids": [], "values": {}}


def test_a_frame_has_the_queue_read_again_if_one_of_its_messages_does() -> None:
    assert merge_pool([pool_message(), pool_message(queue=True), pool_message()])["queue"] is True
    assert merge_pool([pool_message(changed=[1])])["queue"] is False


def test_a_frame_with_too_many_values_has_their_nodes_read_again() -> None:
    gpus = {number: {"power": 100.0 + number} for number in range(MAX_FRAME_BYTES // 10)}
    frame = merge_pool([pool_message(at=1.0, nodes={1: {"load": 1.0}, 2: {"load": 1.0}}, gpus=gpus, changed=[7])])
    assert frame["changed"] == [1, 2, 7]
    assert frame["gpus"]["ids"] == frame["nodes"]["ids"] == []


def test_a_group_may_have_a_lower_bound_of_its_own() -> None:
    recorder = Recorder()
    sender = FrameSender(recorder.send, max_frames_per_second=1000)
    started = time.monotonic()
    for number in range(1, 40):
        sender.put("slow", item(number), merge_items, max_frames_per_second=10)
        time.sleep(0.005)
    assert sender.flush()
    # One at once, one from flush, and between them no more than 10 for each second that the machine took.
    assert len(recorder.frames) <= 2 + 10 * (time.monotonic() - started)
    assert sum(len(frame["items"]) for _, frame in recorder.frames) == 39
