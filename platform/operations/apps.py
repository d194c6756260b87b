"""Registers the app with Django."""

from django.apps import AppConfig


class OperationsConfig(AppConfig):
    name = "operations"
