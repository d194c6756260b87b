"""Registers the app with Django."""

from django.apps import AppConfig


class ApiConfig(AppConfig):
    name = "api"
