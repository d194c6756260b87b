"""Sends what is due: every few seconds a round claims messages, sends them at once, and writes down what became of it.

    outbox ─► claimed (due again later, should this process die) ─► sent, without a transaction ─► delivered
                     ▲                                                   │
                     └────────── due again after a while ◄───────────────┴─► given up; the webhook switched off

Invariant: of each webhook a round sends one message at a time, so that a receiver that is slow or dead holds up others
for one try at most. A message may arrive twice, under one `webhook-id`; none is lost.
"""

import logging
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from accounts.encryption import CannotDecrypt, decrypt
from audit.record import record
from hooks.emails import send_email
from hooks.http_posts import Outcome, post
from hooks.message_forms import body_of
from hooks.models import MAX_ANSWER_CHARS, Delivery, DeliveryState, DeliveryTry, MessageForm, Webhook
from hooks.retries import LASTING_FAILURE, seconds_until_next
from hooks.signatures import signed_headers

logger = logging.getLogger(__name__)

SENDER = "webhooks"
"""Who switches webhooks off, in the audit log."""
MAX_AT_ONCE = 16
"""Threads of a round; they wait on the network."""
CLAIM_SECONDS = 60
"""After which a claimed message is due again: far longer than a try may take."""
ROUND_SECONDS = 20.0
"""After which a round claims nothing more, so that a worker that is to end is not held up."""
KEPT_DAYS = 30
"""For how long deliveries are kept: longer than anybody takes to notice that a message is missing."""
GONE = 410
"""The status by which a receiver says that it wants no more, ever."""

_round = threading.Lock()


def may_have_work() -> bool:
    """Whether a message is due."""
    return _due().exists()


def send_due() -> int:
    """Send all that is due; returns how many were tried. Does nothing while another round of this process works."""
    if not _round.acquire(blocking=False):
        return 0
    try:
        return _send_round()
    finally:
        _round.release()


def forget_old() -> int:
    """Delete the deliveries of long ago, and secrets that sign no more; returns how many deliveries."""
    over = Webhook.objects.filter(former_until__lte=timezone.now())
    over.update(former_encrypted="", former_until=None)
    old = Delivery.objects.filter(created_at__lt=timezone.now() - timedelta(days=KEPT_DAYS), next_try_at=None)
    return old.delete()[1].get("hooks.Delivery", 0)


def _send_round() -> int:
    num_sent, end = 0, time.monotonic() + ROUND_SECONDS
    with ThreadPoolExecutor(MAX_AT_ONCE, thread_name_prefix="webhook") as threads:
        while time.monotonic() < end and (claimed := _claim()):
            for delivery, outcome in zip(claimed, threads.map(_send, claimed), strict=True):
                _note(delivery, outcome)
            num_sent += len(claimed)
    return num_sent


def _due() -> QuerySet[Delivery]:
    return Delivery.objects.filter(next_try_at__lte=timezone.now())


@transaction.atomic
def _claim() -> Sequence[Delivery]:
    """The oldest due message of each webhook, at most as many as are sent at once."""
    now, due = timezone.now(), _due()
    firsts = due.order_by("webhook_id", "next_try_at", "created_at").distinct("webhook_id").values_list("pk", flat=True)
    claimable = due.filter(pk__in=list(firsts)).select_related("webhook").order_by("next_try_at")
    claimed = list(claimable.select_for_update(of=("self",), skip_locked=True)[:MAX_AT_ONCE])
    Delivery.objects.filter(pk__in=[delivery.pk for delivery in claimed]).update(
        next_try_at=now + timedelta(seconds=CLAIM_SECONDS)
    )
    return claimed


def _send(delivery: Delivery) -> Outcome:
    """Touches no database: it runs in a thread that has no connection of its own."""
    try:
        return _sent(delivery)
    except Exception as error:
        # One message that cannot be sent must not keep its whole round from being written down.
        logger.exception("webhook message %s could not be sent", delivery.message_id)
        return Outcome(is_delivered=False, milliseconds=0, answer=f"{type(error).__name__}: {error}"[:MAX_ANSWER_CHARS])


def _sent(delivery: Delivery) -> Outcome:
    webhook = delivery.webhook
    if webhook.form == MessageForm.EMAIL:
        return send_email(webhook.address, delivery.payload)
    body = body_of(MessageForm(webhook.form), delivery.payload)
    try:
        secrets = [decrypt(encrypted) for encrypted in webhook.signing]
    except CannotDecrypt as error:
        return Outcome(is_delivered=False, milliseconds=0, answer=f"it cannot be signed: {error}")
    signed = signed_headers(secrets, message_id=delivery.message_id, timestamp=int(time.time()), body=body)
    headers = {"Content-Type": "application/json", "User-Agent": "Tandem-Webhooks/1", **signed}
    return post(webhook.address, body, headers)


@transaction.atomic
def _note(delivery: Delivery, outcome: Outcome) -> None:
    """Write the try, and what follows from it."""
    now = timezone.now()
    row = Delivery.objects.select_for_update().filter(pk=delivery.pk).first()
    if row is None:
        return  # its webhook was deleted meanwhile
    DeliveryTry.objects.create(
        delivery=row, status=outcome.status, milliseconds=outcome.milliseconds, answer=outcome.answer
    )
    row.tries_left = max(row.tries_left - 1, 0)
    webhooks = Webhook.objects.filter(pk=row.webhook_id)
    if outcome.is_delivered:
        row.state, row.next_try_at = DeliveryState.DELIVERED, None
        webhooks.update(failing_since=None)
    else:
        webhooks.update(failing_since=Coalesce("failing_since", now))
        is_last = row.tries_left == 0 or row.next_try_at is None
        row.state = DeliveryState.FAILED if is_last else DeliveryState.WAITING
        row.next_try_at = None if is_last else now + timedelta(seconds=seconds_until_next(row.tries_left))
    row.save(update_fields=["state", "tries_left", "next_try_at"])
    if not outcome.is_delivered:
        _switch_off_if_dead(webhooks.get(), outcome, has_given_up=row.state == DeliveryState.FAILED)


def _switch_off_if_dead(webhook: Webhook, outcome: Outcome, *, has_given_up: bool) -> None:
    since = webhook.failing_since
    is_dead = has_given_up and since is not None and timezone.now() - since >= LASTING_FAILURE
    if not webhook.is_active or not (is_dead or outcome.status == GONE):
        return
    said = f"status {outcome.status}" if outcome.status is not None else outcome.answer
    why = (
        "its receiver answered that it is gone (410)"
        if outcome.status == GONE
        else (f"nothing has got through since {since:%d %b %H:%M} UTC; the last try: {said}")
    )
    webhook.is_active, webhook.off_reason = False, why[:300]
    webhook.save(update_fields=["is_active", "off_reason"])
    give_up_waiting(webhook)
    record(
        "webhook.switch_off", webhook, user=None, actor=SENDER, project_id=webhook.project_id, reason=webhook.off_reason
    )


def give_up_waiting(webhook: Webhook) -> None:
    """Try none of its messages again by itself; each can still be sent again by hand."""
    webhook.deliveries.filter(state=DeliveryState.WAITING).update(state=DeliveryState.FAILED, next_try_at=None)
