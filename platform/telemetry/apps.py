"""Registers the app with Django."""

from django.apps import AppConfig


class TelemetryConfig(AppConfig):
    name = "telemetry"
