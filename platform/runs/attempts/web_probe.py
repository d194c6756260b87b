"""Whether the web itself answers, at the URL that drivers use.

The watcher runs in Celery. If the web is away, every driver looks silent to it; that is not the drivers' fault.
"""

from typing import Protocol

import httpx
from django.conf import settings

HEALTH_PATH = "/api/v1/health/live"
TIMEOUT_SECONDS = 2.0


class WebProbe(Protocol):
    def is_up(self) -> bool: ...


class HttpWebProbe:
    def is_up(self) -> bool:
        """Whether the web answers. Any status counts, since it shows that heartbeats could arrive."""
        try:
            response = httpx.get(f"{settings.TANDEM_PUBLIC_URL}{HEALTH_PATH}", timeout=TIMEOUT_SECONDS)
        except httpx.HTTPError:
            return False
        return response.status_code < 500
