from typing import Any

import pytest

from worker.contracts.commands import CommandKind, RunCommand
from worker.engine.control.command_queue import CommandQueue, RunCancelledError


def send(client: Any, queue: CommandQueue, *kinds: CommandKind) -> None:
    client.commands = [RunCommand(id=f"{len(client.events)}-{kind}", kind=kind) for kind in kinds]
    queue.take_new()


def verdicts(client: Any) -> list[bool]:
    """Whether each answered command was accepted."""
    return [event.accepted for event in client.events]


def test_pausing_twice_and_resuming_a_running_run_are_refused(client: Any) -> None:
    queue = CommandQueue(client)
    send(client, queue, CommandKind.RESUME, CommandKind.PAUSE, CommandKind.PAUSE, CommandKind.RESUME)
    assert verdicts(client) == [False, True, False, True]
    assert not queue.pause_wanted


def test_a_stop_ends_a_pause_and_refuses_another(client: Any) -> None:
    queue = CommandQueue(client)
    send(client, queue, CommandKind.PAUSE, CommandKind.STOP, CommandKind.PAUSE)
    assert verdicts(client) == [True, True, False]
    assert queue.stop_wanted and not queue.pause_wanted


def test_a_second_stop_does_not_extend_the_deadline(client: Any) -> None:
    queue = CommandQueue(client, stop_seconds=1e-6)
    assert not queue.is_stop_overdue
    send(client, queue, CommandKind.STOP, CommandKind.STOP)
    assert verdicts(client) == [True, False]
    assert queue.is_stop_overdue


def test_without_a_bound_a_stop_is_never_overdue(client: Any) -> None:
    queue = CommandQueue(client)
    send(client, queue, CommandKind.STOP)
    assert not queue.is_stop_overdue


def test_cancel_is_answered_before_the_run_ends(client: Any) -> None:
    with pytest.raises(RunCancelledError):
        send(client, CommandQueue(client), CommandKind.CANCEL)
    assert verdicts(client) == [True]


def test_commands_that_are_open_at_the_end_are_refused_once(client: Any) -> None:
    queue = CommandQueue(client)
    send(client, queue, CommandKind.SAMPLE_NOW, CommandKind.CHECKPOINT_NOW)
    assert client.events == []
    queue.refuse_all("the run has ended")
    queue.refuse_all("the run has ended")
    assert verdicts(client) == [False, False]
