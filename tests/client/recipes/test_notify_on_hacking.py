"""Notify on reward hacking: a chat is told, and the page's receiver verifies the message and pauses the run."""

import json
import socket
import sys
import time
from collections.abc import Callable

import httpx
import pytest

from accounts.models import Project, User
from hooks.models import Delivery, DeliveryState, Webhook
from hooks.sending import send_due
from runs.models import PendingCommand, Run
from tests.client.recipes.pages import read_page
from tests.client.recipes.reader import Reader
from tests.client.recipes.served_application import Served
from tests.web.hooks.webhook_receiver import Receiver
from worker.contracts.commands import CommandKind

pytestmark = pytest.mark.django_db
CHANGE = {"change": 0.4, "standard_error": 0.1}
SUSPECTED = {
    **{"type": "reward_hacking", "suspected": True, "batch": 7, "num_batches": 5, "monitored": "reward/clip"},
    **{"optimised_change": CHANGE, "monitored_change": CHANGE | {"change": -0.3}},
}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_a_chat_is_told_and_the_run_pauses(
    served: Served,
    reader_as: Callable[..., Reader],
    receiver: Receiver,
    run: Run,
    report: Callable[..., None],
    project: Project,
    alice: User,
) -> None:
    page, reader, port = read_page("notify_on_hacking"), reader_as(alice), free_port()
    its_own = f"http://127.0.0.1:{port}/"
    reader.fill_in(page, {"PROJECT": str(project.pk), "CHAT": receiver.url, "RECEIVER": its_own})
    for block in page.pasted:
        reader.paste(block)
    assert {hook.name: hook.form for hook in Webhook.objects.all()} == {"chat": "slack", "pause": "standard"}
    reader.begin_program(sys.executable, "my_receiver.py", str(port))
    served.wait_until(lambda: is_open(port))

    with served.alone:
        report({"type": "state", "state": "running"}, SUSPECTED)
        due = list(Delivery.objects.values_list("webhook__name", flat=True))
    assert sorted(due) == ["chat", "pause"]
    send_due()
    ((_, told),) = receiver.taken
    assert run.name in json.loads(told)["text"]
    assert {one.state for one in Delivery.objects.all()} == {DeliveryState.DELIVERED}
    assert [command.kind for command in PendingCommand.objects.filter(run=run)] == [CommandKind.PAUSE]
    forged = {"webhook-id": "msg_1", "webhook-timestamp": str(int(time.time())), "webhook-signature": "v1,AAAA"}
    assert httpx.post(its_own, content=told, headers=forged).status_code == 401
