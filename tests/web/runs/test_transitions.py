import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import User
from runs.models import Run, RunStream, RunTransition
from runs.stream import lock_stream, next_stream_seqs
from runs.transitions import RunStateConflict, move
from worker.contracts.states import END_STATES, LEGAL_MOVES, RunState, is_legal

states = st.sampled_from(list(RunState))
SHARED_ROW = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)


@pytest.mark.django_db
@SHARED_ROW
@given(old=states, new=states, claimed=states)
def test_only_legal_moves_from_the_claimed_state_happen(
    make_run: Callable[..., Run], old: RunState, new: RunState, claimed: RunState
) -> None:
    run = make_run(state=old.value)
    try:
        move(run.pk, [claimed], new, reason="because", actor="test")
    except ValueError:
        moved = False
        assert not is_legal(claimed, new)
    except RunStateConflict as conflict:
        moved = False
        assert claimed is not old
        assert conflict.state is old
        assert set(conflict.legal) == {state.value for state in LEGAL_MOVES[old]}
    else:
        moved = True
        assert claimed is old
        assert is_legal(old, new)
    run.refresh_from_db()
    history = list(RunTransition.objects.filter(run=run).values_list("old", "new", "reason", "actor"))
    assert run.state == (new.value if moved else old.value)
    assert history == ([(old.value, new.value, "because", "test")] if moved else [])


@pytest.mark.django_db
@SHARED_ROW
@given(path=st.lists(states, max_size=12))
def test_history_lists_every_transition_up_to_a_terminal_state(
    make_run: Callable[..., Run], path: list[RunState]
) -> None:
    run, current, way = make_run(), RunState.QUEUED, []
    for wanted in path:
        if is_legal(current, wanted):
            move(run.pk, [current], wanted, reason="", actor="test")
            way.append((current.value, wanted.value))
            current = wanted
    rows = list(RunTransition.objects.filter(run=run))
    assert [(row.old, row.new) for row in rows] == way
    assert [row.stream_seq for row in rows] == list(range(1, len(way) + 1))
    run.refresh_from_db()
    assert (run.ended_at is not None) == (current in END_STATES)
    assert (run.started_at is not None) == any(new == RunState.RUNNING for _, new in way)


@pytest.mark.django_db
def test_a_conflict_names_the_state_and_what_is_possible(make_run: Callable[..., Run]) -> None:
    run = make_run(state="paused")
    with pytest.raises(RunStateConflict, match="`paused` is not possible while the run is paused; possible: failed, "):
        move(run.pk, [RunState.RUNNING], RunState.PAUSED, reason="", actor="test")
    ended = make_run(state="completed")
    with pytest.raises(RunStateConflict, match="possible: nothing: the run has ended"):
        move(ended.pk, [RunState.RUNNING], RunState.PAUSED, reason="", actor="test")


@pytest.mark.django_db
def test_a_move_of_an_older_attempt_is_a_conflict(make_run: Callable[..., Run]) -> None:
    run = make_run(state="running", attempt=2)
    with pytest.raises(RunStateConflict):
        move(run.pk, [RunState.RUNNING], RunState.COMPLETED, reason="", actor="driver", attempt=1)
    move(run.pk, [RunState.RUNNING], RunState.COMPLETED, reason="", actor="driver", attempt=2)


@pytest.mark.django_db
def test_further_columns_change_with_the_state_or_not_at_all(make_run: Callable[..., Run]) -> None:
    run = make_run(state="running")
    with pytest.raises(RunStateConflict):
        move(run.pk, [RunState.PAUSED], RunState.RUNNING, reason="", actor="test", changes={"phase": "wrong"})
    move(run.pk, [RunState.RUNNING], RunState.PAUSED, reason="", actor="test", changes={"phase": "train"})
    assert Run.objects.get(pk=run.pk).phase == "train"


@pytest.mark.django_db
def test_started_at_keeps_the_first_time(make_run: Callable[..., Run]) -> None:
    run = make_run(state="starting")
    move(run.pk, [RunState.STARTING], RunState.RUNNING, reason="", actor="test")
    first = Run.objects.get(pk=run.pk).started_at
    move(run.pk, [RunState.RUNNING], RunState.PAUSED, reason="", actor="test")
    move(run.pk, [RunState.PAUSED], RunState.RUNNING, reason="", actor="test")
    assert Run.objects.get(pk=run.pk).started_at == first


@pytest.mark.django_db
def test_a_move_is_published_with_its_number_when_it_commits(
    make_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    sent: list[tuple[str, Any]] = []
    monkeypatch.setattr("live.publish.sender.put", lambda group, message, merge, **_: sent.append((group, message)))
    run = make_run(state="running")
    with django_capture_on_commit_callbacks(execute=True):
        move(run.pk, [RunState.RUNNING], RunState.PAUSED, reason="asked for", actor="alice")
        assert sent == []
    (run_group, run_frame), (project_group, project_frame), (pool_group, pool_frame) = sent
    assert run_group == f"run.{run.pk}"
    assert run_frame["items"][0]["stream_seq"] == 1
    body = {"old": "running", "new": "paused", "reason": "asked for", "actor": "alice"}
    assert run_frame["items"][0]["body"] == body
    assert project_group == f"project.{run.project_id}"
    assert project_frame["runs"][0]["state"] == "paused"
    assert (pool_group, pool_frame["queue"]) == ("pool", True)


@pytest.mark.django_db
def test_numbers_of_a_stream_have_no_gaps(make_run: Callable[..., Run]) -> None:
    run, other = make_run(), make_run()
    assert list(next_stream_seqs(run.pk, 3)) == [1, 2, 3]
    assert list(next_stream_seqs(run.pk, 2)) == [4, 5]
    assert list(next_stream_seqs(other.pk, 1)) == [1]
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        next_stream_seqs(run.pk, 10)
        raise ZeroDivisionError
    assert list(next_stream_seqs(run.pk, 1)) == [6]


@pytest.mark.django_db(transaction=True)
def test_of_two_moves_at_once_one_wins_and_the_other_conflicts(make_run: Callable[..., Run], alice: User) -> None:
    run = make_run(state="running")
    outcomes: list[str] = []

    def act(new: RunState) -> None:
        try:
            move(run.pk, [RunState.RUNNING], new, reason="", actor="test")
            outcomes.append("moved")
        except RunStateConflict as conflict:
            outcomes.append(f"conflict in {conflict.state}")
        finally:
            connection.close()

    threads = [threading.Thread(target=act, args=(RunState.PAUSED,)) for _ in range(2)]
    with transaction.atomic():
        lock_stream(run.pk)
        for thread in threads:
            thread.start()
    for thread in threads:
        thread.join(timeout=10)
    assert sorted(outcomes) == ["conflict in paused", "moved"]
    assert RunTransition.objects.filter(run=run).count() == 1


@pytest.mark.django_db(transaction=True)
def test_numbers_become_visible_in_their_order(make_run: Callable[..., Run]) -> None:
    run = make_run()
    seen: list[int] = []

    def take() -> None:
        seen.append(next_stream_seqs(run.pk, 1)[0])
        connection.close()

    thread = threading.Thread(target=take)
    with transaction.atomic():
        first = next_stream_seqs(run.pk, 1)[0]
        thread.start()
        thread.join(timeout=0.3)
        assert thread.is_alive(), "nobody gets a later number before the earlier one is committed"
    thread.join(timeout=10)
    assert seen == [first + 1]
    assert RunStream.objects.get(run=run).last_stream_seq == first + 1
