"""The stack as a script sees it: REST with a token of the admin's."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import httpx

from tests.e2e.stack import Stack

POLL_SECONDS = 0.2
START_SECONDS = 240.0
"""For a driver and its lanes to come up: a busy machine takes minutes over what a quiet one does in fifteen seconds."""


@dataclass(frozen=True, slots=True)
class Rest:
    client: httpx.Client

    @classmethod
    def log_in(cls, stack: Stack) -> Self:
        """Log in through the form and make a token."""
        headers = {"Referer": stack.address}
        with httpx.Client(base_url=stack.address, headers=headers, follow_redirects=True) as pages:
            crumb = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', pages.get("/login").text)
            assert crumb is not None
            password = {"username": "admin", "password": stack.password, "csrfmiddlewaretoken": crumb[1]}
            pages.post("/login", data=password).raise_for_status()
            checked = {"X-CSRFToken": pages.cookies["csrftoken"]}
            made = pages.post("/api/v1/tokens", json={"name": "tests"}, headers=checked).raise_for_status()
        bearer = {"Authorization": f"Bearer {made.json()['token']}"}
        return cls(httpx.Client(base_url=f"{stack.address}/api/v1", headers=bearer, timeout=30))

    def close(self) -> None:
        self.client.close()

    def get(self, path: str) -> Any:
        return self.client.get(path).raise_for_status().json()

    def results(self, path: str) -> list[dict[str, Any]]:
        """The first page of a list."""
        found: list[dict[str, Any]] = self.get(path)["results"]
        return found

    def post(self, path: str, **body: Any) -> Any:
        return self.client.post(path, json=body).raise_for_status().json()

    def num_lanes_held(self) -> int:
        """Over all nodes."""
        return sum(node["num_held"] for node in self.results("/nodes"))

    def preset(self, name: str) -> dict[str, Any]:
        """The spec of a preset."""
        spec: dict[str, Any] = next(preset["spec"] for preset in self.results("/presets") if preset["name"] == name)
        return spec

    def start_run(self, name: str, spec: dict[str, Any]) -> str:
        """The new run's id."""
        project = self.results("/projects")[0]["id"]
        return str(self.post("/runs", project=project, name=name, spec=spec)["id"])

    def act(self, run: str, action: str) -> None:
        self.post(f"/runs/{run}/actions", action=action)

    def run_when(
        self,
        run: str,
        holds: Callable[[dict[str, Any]], bool],
        what: str,
        timeout_seconds: float,
        *,
        poll_seconds: float = POLL_SECONDS,
    ) -> dict[str, Any]:
        """The run's body as soon as it holds; a run that failed meanwhile fails the test with its reason."""
        bodies: list[dict[str, Any]] = []

        def look() -> bool:
            bodies.append(self.get(f"/runs/{run}"))
            assert bodies[-1]["state"] != "failed", bodies[-1]["failure"]
            return holds(bodies[-1])

        wait_until(look, what, timeout_seconds, poll_seconds=poll_seconds)
        return bodies[-1]


def wait_until(
    holds: Callable[[], bool], what: str, timeout_seconds: float, *, poll_seconds: float = POLL_SECONDS
) -> None:
    deadline = time.monotonic() + timeout_seconds
    while not holds():
        assert time.monotonic() < deadline, f"{what} did not come within {timeout_seconds:.0f} s"
        time.sleep(poll_seconds)
