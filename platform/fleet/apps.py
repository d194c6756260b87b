"""Registers the app with Django."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "fleet"
