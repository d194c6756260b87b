"""Stored rows of runs that cannot be read: how often readers skipped some, and how many lie there now."""

from collections.abc import Iterator

from django.apps import apps
from prometheus_client.metrics_core import CounterMetricFamily, GaugeMetricFamily, Metric

from runs.models import UNREADABLE
from telemetry.unreadable import unreadable_counts


def unreadable_series() -> Iterator[Metric]:
    text = "Stored rows of runs that readers skipped, since they cannot be read."
    skipped = CounterMetricFamily("tandem_unreadable_rows", text, labels=["kind"])
    for kind, number in unreadable_counts().items():
        skipped.add_metric([kind], number)
    yield skipped
    text = "Stored rows of runs with a number out of its range, which readers leave out."
    left_out = GaugeMetricFamily("tandem_out_of_range_rows", text, labels=["table"])
    for table, number in out_of_range_rows().items():
        left_out.add_metric([table], number)
    yield left_out


def out_of_range_rows() -> dict[str, int]:
    """How many rows of each table have a number out of its range: read from the indexes that hold them alone."""
    return {
        model._meta.db_table: model._default_manager.filter(index.condition).count()
        for model in apps.get_models()
        for index in model._meta.indexes
        if index.name.endswith(UNREADABLE) and index.condition is not None
    }
