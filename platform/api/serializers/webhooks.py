"""Webhooks, and what became of their messages."""

from datetime import datetime
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from api.serializers.answers import Answer
from hooks.hook_events import HookEvent
from hooks.models import MAX_ADDRESS_CHARS, DeliveryState, MessageForm, Webhook
from hooks.services import MAX_OVERLAP_HOURS, OVERLAP_HOURS

MAX_EVENTS = len(HookEvent)
FORM_HELP = "`standard` is signed JSON, as standardwebhooks.com describes."
ADDRESS_HELP = "A URL, or an e-mail address for `email`."


class WebhookBody(Answer):
    """A webhook without its secret, which is shown once."""

    id = serializers.UUIDField()
    project = serializers.UUIDField(source="project_id", allow_null=True, help_text="Null for the pool's.")
    name = serializers.CharField()
    form = serializers.ChoiceField(MessageForm.choices, help_text=FORM_HELP)
    address = serializers.CharField(help_text=ADDRESS_HELP)
    events = serializers.ListField(child=serializers.ChoiceField(HookEvent.choices))
    is_active = serializers.BooleanField()
    off_reason = serializers.CharField(help_text="Why it was switched off by itself; empty where a user did it.")
    failing_since = serializers.DateTimeField(
        allow_null=True, help_text="Since when nothing has got through; null where the last try did."
    )
    former_secret_until = serializers.SerializerMethodField(
        help_text="Until when the secret before the last rotation signs too; null where it does not."
    )
    created_at = serializers.DateTimeField()

    @extend_schema_field(serializers.DateTimeField(allow_null=True))
    def get_former_secret_until(self, webhook: Webhook) -> datetime | None:
        return webhook.former_until if len(webhook.signing) > 1 else None


class CreatedWebhookBody(WebhookBody):
    """The only answer that shows a secret: of a webhook that was made, or whose secret was rotated."""

    secret = serializers.CharField(help_text="Signs its messages; `whsec_` and base64.")


def _events(**options: Any) -> serializers.ListField:
    child = serializers.ChoiceField(HookEvent.choices)
    return serializers.ListField(child=child, min_length=1, max_length=MAX_EVENTS, **options)


class NewWebhook(serializers.Serializer[Any]):
    project = serializers.UUIDField(default=None, allow_null=True, help_text="Null for the pool's; of pool admins.")
    name = serializers.CharField(max_length=100)
    form = serializers.ChoiceField(MessageForm.choices, default=MessageForm.STANDARD.value, help_text=FORM_HELP)
    address = serializers.CharField(max_length=MAX_ADDRESS_CHARS, help_text=ADDRESS_HELP)
    events = _events(help_text="What it tells of.")


class WebhookChanges(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=100, required=False)
    address = serializers.CharField(max_length=MAX_ADDRESS_CHARS, required=False, help_text=ADDRESS_HELP)
    events = _events(required=False)
    is_active = serializers.BooleanField(required=False, help_text="Off, its waiting messages are given up.")


class SecretRotation(serializers.Serializer[Any]):
    overlap_hours = serializers.IntegerField(
        default=OVERLAP_HOURS,
        min_value=0,
        max_value=MAX_OVERLAP_HOURS,
        help_text="For how long the secret before signs too. 0: it ends at once.",
    )


class DeliveryTryBody(Answer):
    at = serializers.DateTimeField()
    status = serializers.IntegerField(allow_null=True, help_text="Null where no answer came, and for e-mail.")
    milliseconds = serializers.IntegerField()
    answer = serializers.CharField(help_text="The beginning of the answer, or why there is none.")


class DeliveryBody(Answer):
    """A message with all that became of it."""

    id = serializers.UUIDField()
    message_id = serializers.CharField(help_text="The header `webhook-id`, the same in every try.")
    event = serializers.CharField(help_text="`webhook.test` for a test.")
    payload = serializers.DictField(help_text="The message in the standard form.")
    state = serializers.ChoiceField(DeliveryState.choices)
    created_at = serializers.DateTimeField()
    next_try_at = serializers.DateTimeField(allow_null=True)
    tries = DeliveryTryBody(many=True)
