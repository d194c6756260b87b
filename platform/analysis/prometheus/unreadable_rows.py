"""How many stored rows readers skipped since they cannot be read."""

from collections.abc import Iterator

from prometheus_client.metrics_core import CounterMetricFamily, Metric

from telemetry.unreadable import unreadable_counts


def unreadable_series() -> Iterator[Metric]:
    text = "Stored rows of runs that readers skipped, since they cannot be read."
    skipped = CounterMetricFamily("tandem_unreadable_rows", text, labels=["kind"])
    for kind, number in unreadable_counts().items():
        skipped.add_metric([kind], number)
    yield skipped
