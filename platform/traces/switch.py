"""Whether traces are written, by OpenTelemetry's own variables."""

from collections.abc import Mapping

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
EXPORTER, PROTOCOL, DISABLED = "OTEL_TRACES_EXPORTER", "OTEL_EXPORTER_OTLP_PROTOCOL", "OTEL_SDK_DISABLED"
ONLY_EXPORTER, ONLY_PROTOCOL = "otlp", "http/protobuf"


def is_traced(environment: Mapping[str, str]) -> bool:
    """Whether a collector is named, or the exporter asked for that has a default address."""
    exporter = environment.get(EXPORTER, "")
    if environment.get(DISABLED, "").lower() == "true" or exporter == "none":
        return False
    return bool(exporter) or any(environment.get(name) for name in ENDPOINTS)


def switch_problem(environment: Mapping[str, str]) -> str:
    """What the variables ask for that cannot be had; empty where all can."""
    if not is_traced(environment):
        return ""
    for name, only in ((EXPORTER, ONLY_EXPORTER), (PROTOCOL, ONLY_PROTOCOL)):
        if environment.get(name, only) not in (only, ""):
            return f"`{name}` must be {only}, got {environment[name]}"
    return ""
