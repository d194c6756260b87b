"""Messages from the transaction of their cause to a real receiver: signed, tried again, given up, sent again."""

import json
import time
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.db import transaction
from django.utils import timezone

from accounts.models import Project, User
from audit.models import AuditEntry
from hooks import http_posts, sending
from hooks.hook_events import HookEvent
from hooks.models import Delivery, DeliveryState, MessageForm, Webhook
from hooks.retries import MAX_TRIES, RETRY_AFTER_SECONDS
from hooks.sending import KEPT_DAYS, forget_old, may_have_work, send_due
from hooks.services import change_webhook, redeliver, send_test
from runs.transitions import move
from tests.web.conftest import MakeRun
from tests.web.hooks.conftest import MakeWebhook
from tests.web.hooks.webhook_receiver import Receiver
from worker.contracts.states import RunState

pytestmark = pytest.mark.django_db


def fail(run: Any, reason: str = "out of memory") -> None:
    move(run.pk, [RunState.RUNNING], RunState.FAILED, reason=reason, actor="driver")


def make_due() -> None:
    Delivery.objects.filter(next_try_at__isnull=False).update(next_try_at=timezone.now())


def test_a_runs_end_arrives_signed_with_what_it_tells_of(
    make_webhook: MakeWebhook, receiver: Receiver, make_run: MakeRun, project: Project
) -> None:
    _, secret = make_webhook()
    run = make_run(project, state="running", name="reds")
    assert not may_have_work()
    fail(run)
    assert may_have_work()
    assert send_due() == 1
    assert not may_have_work()
    message = json.loads(receiver.verified(secret)[0])
    assert message["type"] == "run.failed"
    assert message["data"]["text"] == "reds (Shapes) has failed: out of memory"
    assert message["data"]["run"]["id"] == str(run.pk)
    assert message["data"]["url"].endswith(f"/runs/{run.pk}")
    delivery = Delivery.objects.get()
    assert receiver.taken[0][0]["webhook-id"] == delivery.message_id
    assert (delivery.state, delivery.next_try_at) == (DeliveryState.DELIVERED, None)
    assert [one.status for one in delivery.tries.all()] == [204]
    assert send_due() == 0


def test_nothing_is_told_of_a_transaction_that_rolled_back(
    make_webhook: MakeWebhook, make_run: MakeRun, project: Project
) -> None:
    make_webhook()
    run = make_run(project, state="running")
    with pytest.raises(RuntimeError), transaction.atomic():
        fail(run)
        assert Delivery.objects.count() == 1
        raise RuntimeError
    assert Delivery.objects.count() == 0


def test_a_webhook_hears_of_its_own_project_and_its_own_events_alone(
    make_webhook: MakeWebhook, make_run: MakeRun, project: Project
) -> None:
    make_webhook(events=[HookEvent.RUN_COMPLETED])
    fail(make_run(project, state="running"))
    fail(make_run(state="running"))
    assert not Delivery.objects.exists()


def test_what_fails_is_tried_again_with_the_same_id_ever_later(
    make_webhook: MakeWebhook, receiver: Receiver, make_run: MakeRun, project: Project
) -> None:
    _, secret = make_webhook()
    receiver.status, receiver.answer = 500, b"no room"
    fail(make_run(project, state="running"))
    waits = []
    for _ in range(MAX_TRIES):
        before = timezone.now()
        assert send_due() == 1
        due = Delivery.objects.get().next_try_at
        waits.append(None if due is None else round((due - before).total_seconds()))
        make_due()
    assert waits == [*RETRY_AFTER_SECONDS, None]
    assert send_due() == 0
    delivery = Delivery.objects.get()
    assert delivery.state == DeliveryState.FAILED
    assert {(one.status, one.answer) for one in delivery.tries.all()} == {(500, "no room")}
    assert len(receiver.verified(secret)) == MAX_TRIES
    assert {headers["webhook-id"] for headers, _ in receiver.taken} == {delivery.message_id}


def test_a_webhook_that_fails_for_long_is_switched_off_and_says_so(
    make_webhook: MakeWebhook, receiver: Receiver, make_run: MakeRun, project: Project
) -> None:
    webhook, _ = make_webhook()
    receiver.status = 503
    for _ in range(2):
        fail(make_run(project, state="running"))
    send_due()
    Webhook.objects.update(failing_since=timezone.now() - timedelta(days=1))
    Delivery.objects.filter(pk=Delivery.objects.first().pk).update(tries_left=1, next_try_at=timezone.now())  # type: ignore[union-attr]
    send_due()
    webhook.refresh_from_db()
    assert not webhook.is_active
    assert "the last try: status 503" in webhook.off_reason
    noted = AuditEntry.objects.get(action="webhook.switch_off")
    assert (noted.project_id, noted.actor) == (project.pk, "webhooks")
    assert not Delivery.objects.exclude(state=DeliveryState.FAILED, next_try_at=None).exists()
    fail(make_run(project, state="running"))
    assert Delivery.objects.count() == 2


def test_a_receiver_that_is_gone_is_told_nothing_more(
    make_webhook: MakeWebhook, receiver: Receiver, alice: User
) -> None:
    webhook, _ = make_webhook()
    receiver.status = 410
    send_test(user=alice, webhook=webhook)
    send_due()
    webhook.refresh_from_db()
    assert (webhook.is_active, "(410)" in webhook.off_reason) == (False, True)
    assert change_webhook(user=alice, webhook=webhook, is_active=True).off_reason == ""


def test_a_message_is_sent_again_under_its_id(make_webhook: MakeWebhook, receiver: Receiver, alice: User) -> None:
    webhook, secret = make_webhook()
    receiver.status = 404
    delivery = send_test(user=alice, webhook=webhook)
    send_due()
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.FAILED, "a test is tried once"
    receiver.status = 200
    redeliver(user=alice, delivery=delivery)
    send_due()
    delivery.refresh_from_db()
    assert delivery.state == DeliveryState.DELIVERED
    assert [one.status for one in delivery.tries.all()] == [404, 200]
    first, second = receiver.verified(secret)
    assert first == second
    assert len({headers["webhook-id"] for headers, _ in receiver.taken}) == 1


def test_a_redirect_is_not_followed(make_webhook: MakeWebhook, receiver: Receiver, alice: User) -> None:
    webhook, _ = make_webhook()
    receiver.status, receiver.headers = 307, {"Location": receiver.url}
    delivery = send_test(user=alice, webhook=webhook)
    send_due()
    assert len(receiver.taken) == 1
    assert delivery.tries.get().status == 307


def test_a_receiver_that_answers_by_the_byte_holds_nobody_up(receiver: Receiver) -> None:
    receiver.status, receiver.answer, receiver.drip_seconds = 200, b"x" * 40, 0.1
    begun = time.monotonic()
    outcome = http_posts.post(receiver.url, b"{}", {}, max_seconds=0.5)
    assert time.monotonic() - begun < 2
    assert 0 < len(outcome.answer) < 40


def test_one_message_of_each_webhook_is_on_its_way_at_a_time_in_order(
    make_webhook: MakeWebhook, receiver: Receiver, make_run: MakeRun, project: Project
) -> None:
    make_webhook()
    for number in range(3):
        fail(make_run(project, state="running"), reason=f"cause {number}")
    assert send_due() == 3
    texts = [json.loads(body)["data"]["text"] for _, body in receiver.taken]
    assert [text[-1] for text in texts] == ["0", "1", "2"]


def test_slack_and_discord_get_their_own_form_and_mention_nobody(
    make_webhook: MakeWebhook, receiver: Receiver, make_run: MakeRun, project: Project
) -> None:
    make_webhook(form=MessageForm.SLACK)
    make_webhook(form=MessageForm.DISCORD, name="other")
    fail(make_run(project, state="running", name="<!channel> & @everyone"), reason="long " * 1000)
    send_due()
    sent = [json.loads(body) for _, body in receiver.taken]
    slack = next(one for one in sent if "blocks" in one)
    discord = next(one for one in sent if "content" in one)
    assert slack["text"].startswith("&lt;!channel&gt; &amp; @everyone (Shapes) has failed")
    assert len(slack["blocks"][0]["text"]["text"]) <= 3000
    assert len(discord["content"]) <= 2000
    assert discord["allowed_mentions"] == {"parse": []}


def test_an_email_is_handed_to_the_mail_server(
    make_webhook: MakeWebhook, make_run: MakeRun, project: Project, settings: Any
) -> None:
    settings.TANDEM_SENDS_EMAIL = True
    make_webhook(form=MessageForm.EMAIL, address="team@example.org")
    fail(make_run(project, state="running", name="reds\nBcc: all@example.org"))
    send_due()
    (sent,) = mail.outbox
    assert (sent.to, sent.subject) == (
        ["team@example.org"],
        "[Tandem] reds Bcc: all@example.org (Shapes) has failed: out of memory",
    )
    assert Delivery.objects.get().state == DeliveryState.DELIVERED


def test_old_deliveries_are_forgotten_and_waiting_ones_kept(make_webhook: MakeWebhook, alice: User) -> None:
    webhook, _ = make_webhook()
    long_ago = timezone.now() - timedelta(days=KEPT_DAYS + 1)
    done, waiting = (send_test(user=alice, webhook=webhook) for _ in range(2))
    Delivery.objects.update(created_at=long_ago)
    Delivery.objects.filter(pk=done.pk).update(next_try_at=None)
    assert forget_old() == 1
    assert Delivery.objects.get() == waiting


def test_a_round_leaves_what_another_has_claimed(make_webhook: MakeWebhook, alice: User) -> None:
    webhook, _ = make_webhook()
    send_test(user=alice, webhook=webhook)
    assert len(sending._claim()) == 1
    assert send_due() == 0


def test_a_message_that_cannot_be_made_holds_up_no_other(
    make_webhook: MakeWebhook, receiver: Receiver, make_run: MakeRun, project: Project
) -> None:
    make_webhook(form=MessageForm.SLACK)
    make_webhook(name="other")
    fail(make_run(project, state="running"))
    broken = Delivery.objects.get(webhook__name="chat")
    broken.payload = {"data": {}}
    broken.save()
    assert send_due() == 2
    assert broken.tries.get().answer == "KeyError: 'text'"
    assert len(receiver.taken) == 1
