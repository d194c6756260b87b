"""Sockets over the real channel layer: authorised, gapless, in order."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.test import Client

from accounts.api_tokens import TokenWish, create_token, revoke_token
from accounts.models import ApiToken, Membership, Project, User
from accounts.service_accounts import end_access
from live.publish import flush, run_group
from runs.transitions import move
from telemetry.lending.lending_ledger import lending
from telemetry.sockets import consumers
from tests.web.telemetry.sockets.socket_scenarios import Socket, scenario, socket
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db(transaction=True)
Make = Callable[..., dict[str, Any]]


async def numbers(opened: Socket, up_to: int) -> list[int]:
    """The numbers of all items until `up_to`, in the order they came."""
    seen: list[int] = []
    while not seen or seen[-1] < up_to:
        frame = await opened.frame()
        seen += [item["stream_seq"] for item in frame["items"]]
    return seen


def test_a_fresh_client_gets_hello_then_a_snapshot_then_deltas(driver: Any, event: Make, alice: User) -> None:
    driver.send(event(1), event(2))

    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}", alice) as opened:
            hello = await opened.frame()
            assert (hello["kind"], hello["stream_seq"]) == ("hello", 2)
            assert hello["now"] > 1e9
            snapshot = await opened.frame()
            assert (snapshot["kind"], snapshot["stream_seq"]) == ("snapshot", 2)
            assert snapshot["run"]["id"] == str(driver.run_id)
            assert snapshot["lanes"] == []
            await database_sync_to_async(driver.send)(event(3, message="live"))
            frame = await opened.frame()
            assert frame["kind"] == "items"
            assert [(item["stream_seq"], item["body"]["message"]) for item in frame["items"]] == [(3, "live")]

    scenario(act)


def test_a_lending_decision_is_sent_live_as_it_is_in_the_ledger(driver: Any, event: Make, alice: User) -> None:
    lend = event(1, "lend", decision=1, batch=2, lanes=["trainer-0"], num_fragments=3, predicted_gain_seconds=0.5)

    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq=0", alice) as opened:
            assert (await opened.frame())["kind"] == "hello"
            await database_sync_to_async(driver.send)(lend)
            (item,) = (await opened.frame())["items"]
            ledger = await database_sync_to_async(lending)(driver.run_id)
            (decision,) = ledger["decisions"]
            as_decision = {"attempt": item["attempt"], "at": item["at"], "settled_at": None, **item["body"]}
            assert (item["type"], {**as_decision, "num_generated": 0}) == ("lend", decision)

    scenario(act)


def test_a_returning_client_gets_what_it_missed_and_no_more(driver: Any, event: Make, alice: User) -> None:
    driver.send(*(event(seq) for seq in range(1, 8)))

    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq=4", alice) as opened:
            assert (await opened.frame())["kind"] == "hello"
            assert await numbers(opened, 7) == [5, 6, 7]

    scenario(act)


def test_nothing_is_lost_or_doubled_while_replay_and_live_overlap(driver: Any, event: Make, alice: User) -> None:
    driver.send(*(event(seq) for seq in range(1, 1201)))

    async def act() -> None:
        async def keep_sending() -> None:
            for start in range(1201, 1401, 10):
                await database_sync_to_async(driver.send)(*(event(seq) for seq in range(start, start + 10)))

        async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq=0", alice) as opened:
            sending = asyncio.create_task(keep_sending())
            assert (await opened.frame())["kind"] == "hello"
            assert await numbers(opened, 1400) == list(range(1, 1401))
            await sending

    scenario(act)


def test_a_lost_frame_is_made_good_from_the_database(
    driver: Any, event: Make, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq=0", alice) as opened:
            await opened.frame()
            with monkeypatch.context() as silent:
                silent.setattr("live.publish.sender.put", lambda *_: None)
                await database_sync_to_async(driver.send)(event(1), event(2))
            await database_sync_to_async(driver.send)(event(3))
            assert await numbers(opened, 3) == [1, 2, 3]

    scenario(act)


def test_the_poll_finds_what_pub_sub_never_delivered(
    driver: Any, event: Make, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "POLL_SECONDS", 0.05)
    monkeypatch.setattr("live.publish.sender.put", lambda *_: None)

    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq=0", alice) as opened:
            await opened.frame()
            await database_sync_to_async(driver.send)(event(1))
            assert await numbers(opened, 1) == [1]

    scenario(act)


def test_a_repeated_frame_is_sent_on_once(driver: Any, event: Make, alice: User) -> None:
    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq=0", alice) as opened:
            await opened.frame()
            await database_sync_to_async(driver.send)(event(1))
            assert await numbers(opened, 1) == [1]
            old = {"stream_seq": 1, "type": "log", "at": 1.0, "attempt": 1, "body": {}}
            await get_channel_layer().group_send(
                run_group(driver.run_id), {"type": "run.items", "last_seq": 1, "items": [old]}
            )
            assert await opened.receive_nothing(0.3)

    scenario(act)


def test_a_client_too_far_behind_starts_anew(
    driver: Any, event: Make, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "MAX_REPLAY", 3)
    driver.send(*(event(seq) for seq in range(1, 6)))

    async def act() -> None:
        for after in ("1", "99"):
            async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq={after}", alice) as opened:
                await opened.frame()
                assert (await opened.frame())["kind"] == "snapshot"

    scenario(act)


def test_outsiders_and_strangers_are_closed_with_4404(driver: Any, charlie: User) -> None:
    async def act() -> None:
        for user in (charlie, None):
            async with socket(f"/ws/v1/runs/{driver.run_id}", user) as opened:
                assert await opened.close_code() == 4404
        async with socket("/ws/v1/projects", None) as opened:
            assert await opened.close_code() == 4404

    scenario(act)


def test_a_parameter_that_is_no_number_is_closed_with_4400(driver: Any, alice: User) -> None:
    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq=soon", alice) as opened:
            assert await opened.close_code() == 4400

    scenario(act)


@pytest.mark.parametrize(
    "said",
    [{"text": "{"}, {"text": "[" * 100_000}, {"bytes": b"\xff"}, {"text": "{}"}],
    ids=["no-json", "deep", "bytes", "json"],
)
def test_a_client_that_says_anything_is_closed_with_4400(driver: Any, alice: User, said: dict[str, Any]) -> None:
    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}", alice) as opened:
            for _ in range(2):
                await opened.frame()
            await opened.send_input({"type": "websocket.receive", **said})
            assert await opened.close_code() == 4400

    scenario(act)


@pytest.mark.parametrize("token", ["%00", "%ff", "%ed%a0%80", "x" * 9000])
def test_a_token_that_can_be_none_is_closed_with_4404(driver: Any, token: str) -> None:
    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?token={token}", None) as opened:
            assert await opened.close_code() == 4404

    scenario(act)


def test_a_token_opens_the_socket_of_its_owner(driver: Any, alice: User, charlie: User) -> None:
    _, good = ApiToken.objects.create(user=alice)
    _, foreign = ApiToken.objects.create(user=charlie)

    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?token={good}", None) as opened:
            assert (await opened.frame())["kind"] == "hello"
        for token in (foreign, "guess"):
            async with socket(f"/ws/v1/runs/{driver.run_id}?token={token}", None) as opened:
                assert await opened.close_code() == 4404

    scenario(act)


def test_a_token_of_another_project_opens_no_socket(
    driver: Any, alice: User, make_project: Callable[..., Project]
) -> None:
    other = make_project(owner=alice)
    _, limited = create_token(user=alice, wish=TokenWish(projects=frozenset({other.pk})))

    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?token={limited}", None) as opened:
            assert await opened.close_code() == 4404

    scenario(act)


def test_the_socket_of_a_removed_member_is_closed_at_the_next_poll(
    driver: Any, viewer: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "POLL_SECONDS", 0.05)

    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq=0", viewer) as opened:
            await opened.frame()
            await database_sync_to_async(Membership.objects.filter(user=viewer).delete)()
            assert await opened.close_code() == 4404

    scenario(act)


def test_sockets_are_closed_once_their_session_token_or_account_is_ended(
    driver: Any, alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "POLL_SECONDS", 0.05)
    _, token = create_token(user=alice, wish=TokenWish())
    client.force_login(alice)
    address = f"/ws/v1/runs/{driver.run_id}"

    async def closes_after(end: Callable[[], Any], opened: Socket) -> None:
        assert (await opened.frame())["kind"] == "hello"
        assert (await opened.frame())["kind"] == "snapshot"
        await asyncio.sleep(0.2)
        assert await opened.receive_nothing(0.2), "polls found the user still signed in"
        await database_sync_to_async(end)()
        assert await opened.close_code() == 4404

    async def act() -> None:
        async with (
            socket(address, alice, client.session) as by_session,
            socket(f"{address}?token={token}", None) as by_token,
        ):
            await closes_after(client.logout, by_session)
            await closes_after(ApiToken.objects.all().delete, by_token)
        async with socket(address, alice) as opened:
            await closes_after(lambda: User.objects.filter(pk=alice.pk).update(is_active=False), opened)

    scenario(act)


def test_a_new_password_closes_the_sockets_of_other_sessions(
    driver: Any, alice: User, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "POLL_SECONDS", 0.05)
    client.force_login(alice)

    def change() -> None:
        alice.set_password("another-long-one")
        alice.save()

    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq=0", alice, client.session) as opened:
            await opened.frame()
            await database_sync_to_async(change)()
            assert await opened.close_code() == 4404

    scenario(act)


def test_a_transition_reaches_run_page_and_runs_list(driver: Any, alice: User, charlie: User) -> None:
    def pause() -> None:
        move(driver.run_id, [RunState.RUNNING], RunState.PAUSED, reason="lunch", actor="alice")
        assert flush()

    async def act() -> None:
        async with (
            socket(f"/ws/v1/runs/{driver.run_id}?after_seq=0", alice) as page,
            socket("/ws/v1/projects", alice) as runs,
            socket("/ws/v1/projects", charlie) as others,
        ):
            for opened in (page, runs, others):
                await opened.frame()
            await database_sync_to_async(pause)()
            item = (await page.frame())["items"][0]
            assert item["type"] == "transition"
            assert (item["body"]["old"], item["body"]["new"]) == ("running", "paused")
            changed = await runs.frame()
            assert changed["kind"] == "run_changed"
            assert changed["run"]["id"] == str(driver.run_id)
            assert changed["run"]["state"] == "paused"
            assert await others.receive_nothing(0.2)

    scenario(act)


def test_every_socket_sends_heartbeats_while_nothing_changes(
    driver: Any, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "HEARTBEAT_SECONDS", 0.05)

    async def act() -> None:
        for address in (f"/ws/v1/runs/{driver.run_id}?after_seq=0", "/ws/v1/projects", "/ws/v1/pool"):
            async with socket(address, alice) as opened:
                await opened.frame()
                beats = [await opened.frame() for _ in range(3)]
                assert [beat["kind"] for beat in beats] == ["heartbeat"] * 3
                assert beats[0]["now"] < beats[1]["now"] < beats[2]["now"]

    scenario(act)


def test_a_socket_that_was_refused_has_no_heartbeat(driver: Any, viewer: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consumers, "HEARTBEAT_SECONDS", 0.3)
    monkeypatch.setattr(consumers, "POLL_SECONDS", 0.05)

    async def act() -> None:
        async with socket(f"/ws/v1/runs/{driver.run_id}?after_seq=0", viewer) as opened:
            await opened.frame()
            await database_sync_to_async(Membership.objects.filter(user=viewer).delete)()
            assert await opened.close_code() == 4404
            assert await opened.receive_nothing(0.5)

    scenario(act)


@pytest.mark.parametrize("path", ["/ws/v1/projects", "/ws/v1/pool", "/ws/v1/runs/{run}"])
def test_a_token_that_is_revoked_closes_its_sockets_at_once_and_no_others(
    driver: Any, alice: User, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Long before the poll, which would find it too."""
    monkeypatch.setattr(consumers, "POLL_SECONDS", 600)
    entry, token = create_token(user=alice, wish=TokenWish())
    _, other = create_token(user=alice, wish=TokenWish())
    address = path.format(run=driver.run_id)

    async def act() -> None:
        async with socket(f"{address}?token={token}", None) as opened, socket(f"{address}?token={other}", None) as kept:
            await opened.frame()
            await kept.frame()
            await database_sync_to_async(revoke_token)(user=alice, token_key=entry.token_key)
            while (message := await opened.receive_output(5))["type"] == "websocket.send":
                pass
            assert message["code"] == 4404
            await database_sync_to_async(end_access)(alice)
            while (message := await kept.receive_output(5))["type"] == "websocket.send":
                pass
            assert message["code"] == 4404

    scenario(act)


def test_the_poll_closes_the_sockets_of_an_account_that_is_switched_off(
    alice: User, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(consumers, "POLL_SECONDS", 0.1)

    async def act() -> None:
        async with socket("/ws/v1/projects", alice) as opened:
            await opened.frame()
            await database_sync_to_async(User.objects.filter(pk=alice.pk).update)(is_active=False)
            assert await opened.close_code() == 4404

    scenario(act)
