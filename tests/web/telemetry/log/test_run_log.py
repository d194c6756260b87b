"""The log of a run: what is in it, how it is found, and its errors gathered."""

from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import User
from runs.command_services import request_command
from runs.models import RunLogEntry
from runs.transitions import move
from telemetry import selectors
from telemetry.log import run_log_reads
from telemetry.log.run_log_reads import LogFilter, entries_after, log_errors, log_text, newest_entries
from telemetry.models import StreamItem
from worker.contracts.commands import CommandKind
from worker.contracts.states import RunState

Make = Callable[..., dict[str, Any]]


def numbers(driver: Any, **wanted: Any) -> list[int]:
    page = newest_entries(driver.run_id, LogFilter(**wanted), before_seq=None, limit=10)
    return [entry["stream_seq"] for entry in page.entries]


def test_entries_are_found_by_severity_source_role_type_and_words(driver: Any, event: Make) -> None:
    driver.send(
        event(1, message="loading the model"),
        event(2, level="warning", source="rollout-0", message="slow disk"),
        event(3, level="error", source="rollout-1", message="loss is NaN"),
        event(4, "phase", phase="train"),
        event(5, "queues", batch=1, depths={"score": 1}),
    )
    assert numbers(driver) == [4, 3, 2, 1], "what is drawn instead is not in the log"
    assert numbers(driver, level="warning") == [3, 2]
    assert numbers(driver, source="rollout-0") == [2]
    assert numbers(driver, source="rollout") == [3, 2]
    assert numbers(driver, types=["phase"]) == [4]
    assert numbers(driver, search="NAN") == [3]
    assert numbers(driver, search="100%") == []
    assert numbers(driver, search="phase: TRAIN") == [4], "words that a reader sees are found"
    assert numbers(driver, attempt=2) == []


def test_changes_of_state_and_commands_are_on_the_same_axis(driver: Any, event: Make, alice: User) -> None:
    driver.send(event(1))
    request_command(user=alice, run=driver.run, kind=CommandKind.PAUSE)
    move(driver.run_id, [RunState.RUNNING], RunState.PAUSED, reason="lunch", actor="alice")
    driver.send(event(2))
    page = entries_after(driver.run_id, LogFilter(), after_seq=0, limit=10)
    assert [entry["text"] for entry in page.entries] == [
        "line 1",
        "Pause, asked for by alice",
        "running → paused: lunch (by alice)",
        "line 2",
    ]
    assert [entry["stream_seq"] for entry in page.entries] == [1, 2, 3, 4]
    items = selectors.stream_items(driver.run_id, after_seq=0, limit=10)
    assert [item["type"] for item in items] == ["log", "command", "transition", "log"], "sockets send it as well"


def test_a_search_is_bounded_and_says_where_to_go_on(driver: Any, event: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_log_reads, "MAX_SEARCHED", 3)
    driver.send(*(event(seq) for seq in range(1, 9)))
    wanted = LogFilter(search="line 2")
    first = newest_entries(driver.run_id, wanted, before_seq=None, limit=10)
    assert (first.entries, first.searched_to) == ([], 5)
    second = newest_entries(driver.run_id, wanted, before_seq=5, limit=10)
    assert ([entry["stream_seq"] for entry in second.entries], second.searched_to) == ([2], 1)
    forward = entries_after(driver.run_id, wanted, after_seq=0, limit=10)
    assert ([entry["stream_seq"] for entry in forward.entries], forward.searched_to) == ([2], 4)
    assert newest_entries(driver.run_id, LogFilter(), before_seq=None, limit=10).searched_to is None


def test_the_same_error_is_gathered_whatever_its_numbers(driver: Any, event: Make) -> None:
    driver.send(
        event(1, level="error", source="rollout-0", message="lost after 3 s\nTraceback 1"),
        event(2, level="error", source="rollout-1", message="lost after 17 s\nTraceback 2"),
        event(3, level="warning", source="rollout-1", message="lost after 4 s"),
        event(4, "state", state="failed", reason="out of memory", details="Traceback …"),
    )
    newest, lost = log_errors(driver.run_id)
    assert newest["text"] == "The driver reports: failed: out of memory"
    assert lost == {
        "text": "lost after 17 s",
        "sources": ["rollout-0", "rollout-1"],
        "count": 2,
        "first_at": 1_700_000_001.0,
        "last_at": 1_700_000_002.0,
        "first_seq": 1,
        "last_seq": 2,
    }


def test_a_text_has_a_line_for_each_entry_and_indents_what_follows(driver: Any, event: Make) -> None:
    driver.send(event(1, level="error", source="trainer-0", message="lost\nTraceback"), event(2, message="on"))
    assert log_text(driver.run_id, LogFilter()) == (
        "2023-11-14T22:13:21.000Z  error    trainer-0     lost\n    Traceback\n"
        "2023-11-14T22:13:22.000Z  info     driver        on\n"
    )
    assert "lost" not in log_text(driver.run_id, LogFilter(source="driver"))


def test_a_text_of_too_many_entries_says_that_the_earlier_are_left_out(
    driver: Any, event: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_log_reads, "MAX_SEARCHED", 2)
    driver.send(*(event(seq) for seq in range(1, 5)))
    lines = log_text(driver.run_id, LogFilter()).splitlines()
    assert lines[0] == "# earlier entries are left out: these are the newest 2"
    assert [line.split("  ")[-1].strip() for line in lines[1:]] == ["line 3", "line 4"]


def test_entries_of_a_repeated_batch_are_stored_once(driver: Any, event: Make) -> None:
    driver.send(event(1), event(2))
    driver.send(event(2), event(3))
    assert RunLogEntry.objects.filter(run=driver.run).count() == 3


def test_a_log_record_is_stored_once_and_is_an_item_of_the_stream(driver: Any, event: Make) -> None:
    driver.send(event(1, level="warning", source="rollout-0", message="slow disk"), event(2, "phase", phase="train"))
    assert list(StreamItem.objects.values_list("type", flat=True)) == ["phase"]
    assert driver.items[0]["body"] == {"level": "warning", "source": "rollout-0", "message": "slow disk"}
    newest = selectors.newest_items(driver.run_id, before_seq=None, limit=10, types=["log"])
    assert newest == driver.items[:1]
    assert [item["type"] for item in selectors.stream_items(driver.run_id, after_seq=0, limit=10, types=["phase"])] == [
        "phase"
    ]
