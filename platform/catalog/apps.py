"""Registers the app with Django."""

from django.apps import AppConfig


class CatalogConfig(AppConfig):
    name = "catalog"
