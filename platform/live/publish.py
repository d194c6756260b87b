"""Publishing on commit: the only way from a service to the websockets.

Services call these inside their transaction; the message is sent when the transaction commits and dropped when it rolls
back. Publishing never fails a transaction: see `live.frame_sender`. Delivery is at most once, so sockets compare
numbers and read missed items from the database.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.db import transaction

from live.frame_sender import FrameSender, Message

MAX_FRAME_BYTES = 256 * 1024
"""Largest frame in bytes; a larger one carries its last number only, and readers fetch the items from the database."""

POOL_GROUP = "pool"
MAX_POOL_FRAMES_PER_SECOND = 2
"""Node agents post every few seconds and people read the page, so that more frames would only cost."""


def run_group(run_id: UUID | str) -> str:
    return f"run.{run_id}"


def project_group(project_id: UUID | str) -> str:
    return f"project.{project_id}"


def user_group(user_id: int) -> str:
    return f"user.{user_id}"


def publish_run(run_id: UUID | str, items: Sequence[Mapping[str, Any]]) -> None:
    """Send stream items, each `{stream_seq, type, at, attempt, body}` of plain JSON values, to a run's sockets."""
    if items:
        message: Message = {"items": [dict(item) for item in items]}
        transaction.on_commit(lambda: sender.put(run_group(run_id), message, merge_items))


def publish_project(project_id: UUID | str, run: Mapping[str, Any]) -> None:
    """Send a changed run to the runs lists. `run` holds at least its `id`; of several changes in a frame the last is
    sent."""
    message: Message = {"runs": [dict(run)]}
    transaction.on_commit(lambda: sender.put(project_group(project_id), message, merge_runs))


def publish_pool(
    *,
    changed: Iterable[int] = (),
    at: float | None = None,
    alive: Iterable[int] = (),
    nodes: Mapping[int, Mapping[str, Any]] | None = None,
    gpus: Mapping[int, Mapping[str, Any]] | None = None,
    queue: bool = False,
) -> None:
    """Tell the pool's sockets which nodes are to be read again (`changed`), the live values by id of nodes and GPUs
    that a report of `at`, in Unix seconds, brought, and whether the queue is to be read again. No run is named: every
    user's socket gets the same."""
    message: Message = {
        "changed": list(changed),
        "at": at,
        "alive": list(alive),
        "nodes": dict(nodes or {}),
        "gpus": dict(gpus or {}),
        "queue": queue,
    }
    transaction.on_commit(
        lambda: sender.put(POOL_GROUP, message, merge_pool, max_frames_per_second=MAX_POOL_FRAMES_PER_SECOND)
    )


def publish_sign_out(user_id: int, token_key: str = "") -> None:
    """Have the user's sockets closed: those that came with the token, or all of them."""
    message: Message = {"token_key": token_key}
    transaction.on_commit(lambda: sender.put(user_group(user_id), message, merge_sign_outs))


def flush(timeout_seconds: float = 5.0) -> bool:
    """Wait until everything published so far is sent; for shutdown and tests."""
    return sender.flush(timeout_seconds)


def merge_items(messages: Sequence[Message]) -> Message:
    """One frame in the order of `stream_seq`, in whatever order threads put the messages."""
    items = sorted((item for message in messages for item in message["items"]), key=lambda item: item["stream_seq"])
    frame: Message = {"type": "run.items", "last_seq": items[-1]["stream_seq"], "items": items}
    if len(json.dumps(items, separators=(",", ":"))) > MAX_FRAME_BYTES:
        frame["items"] = []
    return frame


def merge_runs(messages: Sequence[Message]) -> Message:
    latest = {run["id"]: run for message in messages for run in message["runs"]}
    return {"type": "project.runs", "runs": list(latest.values())}


def merge_sign_outs(messages: Sequence[Message]) -> Message:
    return {"type": "user.signed_out", "token_keys": sorted({message["token_key"] for message in messages})}


def merge_pool(messages: Sequence[Message]) -> Message:
    """The newest values of each node and GPU, as columns. Where they would make the frame too large they are left out,
    and their nodes are to be read again."""
    nodes, gpus = dict[int, Any](), dict[int, Any]()
    changed, alive = set[int](), set[int]()
    for message in messages:
        changed.update(message["changed"])
        alive.update(message["alive"])
        nodes.update(message["nodes"])
        gpus.update(message["gpus"])
    frame: Message = {
        "type": "pool.changed",
        "at": max((message["at"] for message in messages if message["at"] is not None), default=None),
        "changed": sorted(changed),
        "alive": sorted(alive),
        "nodes": _columns(nodes),
        "gpus": _columns(gpus),
        "queue": any(message["queue"] for message in messages),
    }
    if len(json.dumps(frame, separators=(",", ":"))) > MAX_FRAME_BYTES:
        frame |= {"changed": sorted(changed | set(nodes)), "nodes": _columns({}), "gpus": _columns({})}
    return frame


def _columns(rows: Mapping[int, Mapping[str, Any]]) -> dict[str, Any]:
    """Rows by id as `{ids, values: {name: [...]}}`, a seventh of the bytes of an object for each row."""
    names = next(iter(rows.values()), {})
    return {"ids": list(rows), "values": {name: [row[name] for row in rows.values()] for name in names}}


async def _group_send(group: str, frame: Message) -> None:
    layer = get_channel_layer()
    if layer is None:
        raise RuntimeError("CHANNEL_LAYERS has no default layer: live pages need one")
    await layer.group_send(group, frame)


sender = FrameSender(_group_send)
