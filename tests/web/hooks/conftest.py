"""A receiver on this machine, which these tests allow, and webhooks to it."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from accounts.models import Project, User
from hooks.hook_events import PROJECT_EVENTS
from hooks.models import Webhook
from hooks.services import create_webhook
from tests.web.hooks.webhook_receiver import Receiver, receiving

MakeWebhook = Callable[..., tuple[Webhook, str]]


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.TANDEM_WEBHOOK_HOSTS = ["127.0.0.1"]
    with receiving() as opened:
        yield opened


@pytest.fixture
def make_webhook(receiver: Receiver, alice: User, project: Project) -> MakeWebhook:
    def make(**fields: Any) -> tuple[Webhook, str]:
        wanted = {"user": alice, "project": project, "name": "chat", "address": receiver.url, "events": PROJECT_EVENTS}
        return create_webhook(**{**wanted, **fields})

    return make
