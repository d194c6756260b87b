"""Registers the app with Django."""

from django.apps import AppConfig


class RunsConfig(AppConfig):
    name = "runs"
