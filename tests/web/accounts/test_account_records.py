"""The list of accounts in Django's admin."""

import pytest
from django.contrib.admin.helpers import ACTION_CHECKBOX_NAME
from django.test import Client
from django.urls import reverse

from accounts.models import User

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("ticked", ["1e+308", "", "x", "\x00"])
def test_an_action_on_what_is_no_account_is_a_bad_request(ticked: str) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(User.objects.create_superuser("root"))
    body = {"action": "reset_second_factors", ACTION_CHECKBOX_NAME: ticked}
    assert client.post(reverse("admin:accounts_user_changelist"), body).status_code == 400
