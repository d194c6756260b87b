"""A webhook's secret is rotated: for a while both sign, each message with both signatures, then the new one alone."""

from datetime import timedelta

import pytest
from cryptography.exceptions import InvalidSignature
from django.core.exceptions import PermissionDenied, ValidationError
from django.utils import timezone

from accounts.models import User
from audit.models import AuditEntry
from hooks.models import MessageForm, Webhook
from hooks.sending import forget_old, send_due
from hooks.services import MAX_OVERLAP_HOURS, change_webhook, rotate_secret, send_test
from tests.web.hooks.conftest import MakeWebhook
from tests.web.hooks.webhook_receiver import Receiver

pytestmark = pytest.mark.django_db


def deliver(user: User, webhook: Webhook, receiver: Receiver) -> None:
    receiver.taken.clear()
    send_test(user=user, webhook=webhook)
    assert send_due() == 1


def test_both_secrets_sign_until_the_overlap_ends(make_webhook: MakeWebhook, receiver: Receiver, alice: User) -> None:
    webhook, old = make_webhook()
    webhook, new = rotate_secret(user=alice, webhook=webhook, overlap_hours=2)
    deliver(alice, webhook, receiver)
    assert receiver.num_signatures == [2]
    assert receiver.verified(old) == receiver.verified(new)
    Webhook.objects.update(former_until=timezone.now())
    deliver(alice, webhook, receiver)
    assert receiver.num_signatures == [1]
    assert len(receiver.verified(new)) == 1
    with pytest.raises(InvalidSignature):
        receiver.verified(old)
    forget_old()
    assert Webhook.objects.get().former_encrypted == "", "it is kept no longer than it signs"


def test_a_secret_that_leaked_ends_at_once(make_webhook: MakeWebhook, receiver: Receiver, alice: User) -> None:
    webhook, old = make_webhook()
    webhook, _ = rotate_secret(user=alice, webhook=webhook, overlap_hours=0)
    deliver(alice, webhook, receiver)
    with pytest.raises(InvalidSignature):
        receiver.verified(old)
    assert Webhook.objects.get().former_encrypted == ""


def test_a_change_by_who_read_the_webhook_before_leaves_the_new_secret(
    make_webhook: MakeWebhook, receiver: Receiver, alice: User
) -> None:
    read_before, _ = make_webhook()
    _, new = rotate_secret(user=alice, webhook=Webhook.objects.get())
    change_webhook(user=alice, webhook=read_before, name="ops")
    deliver(alice, Webhook.objects.get(), receiver)
    assert len(receiver.verified(new)) == 1


def test_at_most_two_secrets_sign(make_webhook: MakeWebhook, receiver: Receiver, alice: User) -> None:
    webhook, first = make_webhook()
    webhook, second = rotate_secret(user=alice, webhook=webhook)
    webhook, third = rotate_secret(user=alice, webhook=webhook)
    deliver(alice, webhook, receiver)
    assert receiver.num_signatures == [2]
    assert receiver.verified(second) == receiver.verified(third)
    with pytest.raises(InvalidSignature):
        receiver.verified(first)


def test_an_overlap_is_a_day_unless_asked_otherwise_and_a_week_at_most(make_webhook: MakeWebhook, alice: User) -> None:
    webhook, _ = make_webhook()
    rotated, _ = rotate_secret(user=alice, webhook=webhook)
    assert rotated.former_until is not None
    assert timedelta(hours=23, minutes=59) < rotated.former_until - timezone.now() <= timedelta(hours=24)
    with pytest.raises(ValidationError, match="must be from 0 to 168, got 169"):
        rotate_secret(user=alice, webhook=webhook, overlap_hours=MAX_OVERLAP_HOURS + 1)


def test_owners_alone_rotate_and_the_log_tells_it_without_the_secret(
    make_webhook: MakeWebhook, alice: User, bob: User
) -> None:
    webhook, old = make_webhook()
    with pytest.raises(PermissionDenied):
        rotate_secret(user=bob, webhook=webhook)
    _, new = rotate_secret(user=alice, webhook=webhook)
    (entry,) = AuditEntry.objects.filter(action="webhook.rotate_secret")
    assert (entry.actor, entry.changes) == ("alice", {"overlap_hours": 24})
    kept = str(Webhook.objects.values().get())
    assert (old in kept, new in kept) == (False, False)


def test_a_webhook_whose_secret_nobody_reads_has_none_to_rotate(make_webhook: MakeWebhook, alice: User) -> None:
    webhook, _ = make_webhook(form=MessageForm.SLACK)
    with pytest.raises(ValidationError, match="must be standard to have a secret that is read"):
        rotate_secret(user=alice, webhook=webhook)
