"""Registers the app with Django."""

from django.apps import AppConfig


class MirrorsConfig(AppConfig):
    name = "mirrors"
