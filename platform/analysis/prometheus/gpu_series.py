"""Live values and health of every GPU, as its node agent last reported them."""

from collections.abc import Iterator

from prometheus_client.metrics_core import GaugeMetricFamily, Metric

from fleet.health_rules import Health
from fleet.models import Gpu

LABELS = ["node", "gpu", "uuid", "device"]
LIVE = {
    "utilisation": ("tandem_gpu_utilisation_ratio", "Share of the last sampling period in which a kernel ran."),
    "memory_used_bytes": ("tandem_gpu_memory_used_bytes", "Memory in use."),
    "temperature": ("tandem_gpu_temperature_celsius", "Temperature of the chip."),
    "memory_temperature": ("tandem_gpu_memory_temperature_celsius", "Temperature of its memory."),
    "power": ("tandem_gpu_power_watts", "Power drawn."),
}
"""By the field of `GpuLive`; a value that a driver does not tell has no series."""


def gpu_series() -> Iterator[Metric]:
    families = {field: GaugeMetricFamily(name, text, labels=LABELS) for field, (name, text) in LIVE.items()}
    text = "1 while the driver counts nothing against it, else 0."
    healthy = GaugeMetricFamily("tandem_gpu_healthy", text, labels=LABELS)
    rows = (
        Gpu.objects.filter(lost_since=None)
        .select_related("node")
        .only("node__name", "index", "uuid", "accelerator", "live", "health")
    )
    for gpu in rows.order_by("node__name", "index"):
        labels = [gpu.node.name, str(gpu.index), gpu.uuid, gpu.accelerator]
        healthy.add_metric(labels, float(gpu.health == Health.HEALTHY))
        for field, family in families.items():
            if (value := gpu.live.get(field)) is not None:
                family.add_metric(labels, value)
    yield from families.values()
    yield healthy
