"""How long a rank waits in a collective for the others."""

from datetime import timedelta

COLLECTIVE_TIMEOUT = timedelta(days=1)
"""Longer than the driver's limit of any call (`worker.engine.control.watch_limits`): the driver tells a hang from a
rank that is slow, or that compiles, and logs what each of them waits in before it ends one. NCCL's own watchdog, which
ends a process after ten minutes by default, can do neither. A rank that has died is noticed by the driver at once."""
