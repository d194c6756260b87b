"""Registers the app with Django."""

from django.apps import AppConfig


class AccountsConfig(AppConfig):
    name = "accounts"

    def ready(self) -> None:
        from allauth.socialaccount.signals import social_account_added

        from accounts.sign_in.social_adapter import record_link

        # allauth links accounts in two ways, and tells of both by this alone.
        social_account_added.connect(record_link, dispatch_uid="record_link")
