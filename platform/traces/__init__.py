"""OpenTelemetry traces: off, and then without what sends them, unless the standard variables name a collector."""
