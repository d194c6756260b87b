"""Registers the app with Django."""

from django.apps import AppConfig


class AnalysisConfig(AppConfig):
    name = "analysis"
