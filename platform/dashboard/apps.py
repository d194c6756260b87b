"""Registers the app with Django."""

from django.apps import AppConfig


class DashboardConfig(AppConfig):
    name = "dashboard"
