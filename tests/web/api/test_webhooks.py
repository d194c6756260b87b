"""Webhooks over REST: made, changed, tested, sent again; seen and managed by owners alone, the pool's by its admins."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from rest_framework.test import APIClient

from accounts.models import Project, User
from audit.models import AuditEntry
from hooks.models import Webhook
from hooks.sending import send_due
from tests.web.hooks.webhook_receiver import Receiver, receiving

pytestmark = pytest.mark.django_db
ClientOf = Callable[[User], APIClient]
ADDRESS = "/api/v1/webhooks"
URL = "https://chat.example/hooks/T0P-SECRET"


def body(project: Project | None, **fields: Any) -> dict[str, Any]:
    of = None if project is None else str(project.pk)
    return {"project": of, "name": "chat", "address": URL, "events": ["run.failed", "run.completed"]} | fields


@pytest.fixture
def receiver(settings: Any) -> Iterator[Receiver]:
    settings.TANDEM_WEBHOOK_HOSTS = ["127.0.0.1"]
    with receiving() as opened:
        yield opened


def test_a_webhook_is_made_changed_and_deleted_and_its_secret_shown_once(api: APIClient, project: Project) -> None:
    made = api.post(ADDRESS, body(project))
    assert made.status_code == 201
    secret = made.json()["secret"]
    assert secret.startswith("whsec_")
    one = f"{ADDRESS}/{made.json()['id']}"
    listed = api.get(ADDRESS, {"project": str(project.pk)})
    assert [row["name"] for row in listed.json()["results"]] == ["chat"]
    assert secret not in listed.content.decode() + api.get(one).content.decode()
    assert secret not in Webhook.objects.get().encrypted
    rotated = api.post(f"{one}/rotate-secret", {"overlap_hours": 1}).json()
    assert rotated["secret"] not in (secret, api.get(one).json().get("secret"))
    assert rotated["former_secret_until"] is not None
    assert api.post(f"{one}/rotate-secret", {"overlap_hours": 0}).json()["former_secret_until"] is None
    changed = api.patch(one, {"name": "ops", "events": ["budget.spent", "run.failed"], "is_active": False}).json()
    assert (changed["name"], changed["events"], changed["is_active"]) == ("ops", ["run.failed", "budget.spent"], False)
    assert api.delete(one).status_code == 204
    noted = AuditEntry.objects.filter(object_type="webhook")
    assert {row.action for row in noted} == {
        "webhook.create",
        "webhook.rotate_secret",
        "webhook.change",
        "webhook.delete",
    }
    assert "T0P-SECRET" not in str([row.changes for row in noted])


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"address": "http://chat.example"}, "address"),
        ({"address": "https://10.0.0.7/"}, "address"),
        ({"form": "email", "address": "team@example.org"}, "address"),
        ({"events": []}, "events"),
        ({"events": ["gpu.lost"]}, "events"),
        ({"events": ["run.exploded"]}, "events.0"),
        ({"name": ""}, "name"),
    ],
)
def test_what_cannot_be_a_webhook_is_refused_by_field(
    api: APIClient, project: Project, fields: dict[str, Any], field: str
) -> None:
    refused = api.post(ADDRESS, body(project, **fields))
    assert (refused.status_code, list(refused.json()["errors"])) == (400, [field])


def test_where_no_mail_server_is_configured_that_is_said(api: APIClient, project: Project) -> None:
    refused = api.post(ADDRESS, body(project, form="email", address="team@example.org"))
    assert "`EMAIL_URL`" in refused.json()["errors"]["address"][0]


def test_a_name_is_taken_once_in_a_project_and_once_in_the_pool(
    api: APIClient, pool_admin: APIClient, project: Project
) -> None:
    for client, of, events in ((api, project, ["run.failed"]), (pool_admin, None, ["gpu.lost"])):
        assert client.post(ADDRESS, body(of, events=events)).status_code == 201
        assert client.post(ADDRESS, body(of, events=events)).status_code == 400


def test_owners_manage_a_projects_webhooks_and_nobody_else_sees_them(
    client_of: ClientOf, api: APIClient, pool_admin: APIClient, project: Project, bob: User, charlie: User
) -> None:
    assert client_of(bob).post(ADDRESS, body(project)).status_code == 403
    assert client_of(charlie).post(ADDRESS, body(project)).status_code == 404
    one = f"{ADDRESS}/{api.post(ADDRESS, body(project)).json()['id']}"
    for client in (client_of(bob), client_of(charlie), pool_admin):
        assert client.get(ADDRESS).json()["results"] == []
        for answer in (
            client.get(one),
            client.delete(one),
            client.post(f"{one}/test"),
            client.get(f"{one}/deliveries"),
        ):
            assert answer.status_code == 404
    assert Webhook.objects.count() == 1


def test_the_pools_webhooks_are_its_admins_and_tell_of_no_run(api: APIClient, pool_admin: APIClient) -> None:
    assert api.post(ADDRESS, body(None, events=["gpu.lost"])).status_code == 403
    refused = pool_admin.post(ADDRESS, body(None))
    assert "of the pool must be of budget.near" in refused.json()["errors"]["events"][0]
    made = pool_admin.post(ADDRESS, body(None, events=["gpu.lost", "budget.spent"]))
    assert made.status_code == 201
    assert api.get(f"{ADDRESS}/{made.json()['id']}").status_code == 404


def test_a_test_is_delivered_and_sent_again_and_each_try_is_told(
    api: APIClient, project: Project, receiver: Receiver
) -> None:
    receiver.status, receiver.answer = 400, b"who are you?"
    made = api.post(ADDRESS, body(project, address=receiver.url)).json()
    tested = api.post(f"{ADDRESS}/{made['id']}/test")
    assert (tested.status_code, tested.json()["state"]) == (202, "waiting")
    send_due()
    of = f"{ADDRESS}/{made['id']}/deliveries"
    (delivery,) = api.get(of).json()["results"]
    assert (delivery["state"], delivery["event"]) == ("failed", "webhook.test")
    assert [(one["status"], one["answer"]) for one in delivery["tries"]] == [(400, "who are you?")]
    receiver.status, receiver.answer = 200, b"welcome"
    assert api.post(f"{of}/{delivery['id']}/redeliver").status_code == 202
    send_due()
    again = api.get(f"{of}/{delivery['id']}").json()
    assert (again["state"], [one["status"] for one in again["tries"]]) == ("delivered", [400, 200])
    assert len(receiver.verified(made["secret"])) == 2
    assert api.get(f"{ADDRESS}/{made['id']}").json()["failing_since"] is None


def test_a_repeat_with_an_idempotency_key_sends_no_second_test(
    api: APIClient, project: Project, receiver: Receiver
) -> None:
    made = api.post(ADDRESS, body(project, address=receiver.url)).json()
    answers = [
        api.post(f"{ADDRESS}/{made['id']}/test", headers={"Idempotency-Key": "once"}).json()["id"] for _ in range(2)
    ]
    send_due()
    assert (len(set(answers)), len(receiver.taken)) == (1, 1)
