"""Registers the app with Django."""

from django.apps import AppConfig


class LiveConfig(AppConfig):
    name = "live"
