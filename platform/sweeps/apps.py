"""Registers the app with Django."""

from django.apps import AppConfig


class SweepsConfig(AppConfig):
    name = "sweeps"
