"""Registers the app with Django."""

from django.apps import AppConfig


class HooksConfig(AppConfig):
    name = "hooks"
