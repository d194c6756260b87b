"""`manage.py reset_second_factor USER`: for an administrator who has lost app and recovery codes."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from accounts.models import User
from accounts.sign_in.second_factors import reset_second_factor


class Command(BaseCommand):
    help = "Remove an account's authenticator app and recovery codes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("username")

    def handle(self, *args: Any, username: str, **options: Any) -> None:
        account = User.objects.filter(username=username).first()
        if account is None:
            raise CommandError(f"there is no user `{username}`")
        reset_second_factor(user=None, account=account, actor="manage.py reset_second_factor")
        self.stdout.write(f"{username} signs in without a second factor, and may set up another one.")
