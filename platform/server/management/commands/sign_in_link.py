"""`manage.py sign_in_link USER`: the way in when the provider of OpenID Connect, or a password, is lost."""

from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.urls import reverse

from accounts.models import User
from accounts.sign_in.sign_in_links import LIFETIME_SECONDS, make_sign_in_link


class Command(BaseCommand):
    help = "Print a link that signs an account in, once, within ten minutes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        account = User.objects.filter(username=username, is_active=True, is_service_account=False).first()
        if account is None:
            raise CommandError(f"there is no active user `{username}` who is a person")
        link = settings.TANDEM_PUBLIC_URL + reverse("sign-in-link", args=[make_sign_in_link(account=account)])
        self.stdout.write(f"Signs {username} in, once, within {LIFETIME_SECONDS // 60} minutes:\n{link}")
