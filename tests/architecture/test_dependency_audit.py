"""`make audit` fails on advisories that nobody accepted, and says plainly when it could not ask."""

import http.server
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
ADVISORIES: dict[str, dict[str, Any]] = {
    "GHSA-1": {"id": "GHSA-1", "aliases": ["CVE-2026-1"], "summary": "anybody gets in"},
    "GHSA-2": {"id": "GHSA-2", "summary": "not so", "withdrawn": "2026-01-01T00:00:00Z"},
}
OF = {"django": ["GHSA-1", "GHSA-2"]}


class Advisories(http.server.BaseHTTPRequestHandler):
    """Answers as OSV does."""

    def do_POST(self) -> None:
        queries = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["queries"]
        names = [query["package"]["name"] for query in queries]
        assert {"django", "torch", "preact"} <= set(names), "both locks, and torch"
        self._answer(
            {"results": [{"vulns": [{"id": one} for one in OF[name]]} if name in OF else {} for name in names]}
        )

    def do_GET(self) -> None:
        self._answer(ADVISORIES[self.path.rpartition("/")[2]])

    def _answer(self, body: dict[str, Any]) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(json.dumps(body).encode())

    def log_message(self, format: str, *arguments: Any) -> None:
        pass


@pytest.fixture(scope="module")
def osv() -> Iterator[str]:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Advisories) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def audit(url: str, allowed: Path, *arguments: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, "deploy/make/dependency_audit.py", *arguments],
        cwd=ROOT,
        env={**os.environ, "TANDEM_ADVISORIES_URL": url, "TANDEM_AUDIT_ALLOWED": str(allowed)},
        capture_output=True,
        text=True,
    )
    return done.returncode, done.stdout + done.stderr


def entry(until: str, advisory: str = "CVE-2026-1") -> str:
    return f'[[allowed]]\nid = "{advisory}"\npackage = "django"\nreason = "not used"\nuntil = {until}\n'


@pytest.mark.parametrize(
    ("allowed", "code", "said"),
    [
        ("", 1, "CVE-2026-1, GHSA-1: anybody gets in"),
        (entry("2999-01-01"), 0, "no known vulnerability in "),
        (entry("2020-01-01"), 1, "CVE-2026-1 was accepted until 2020-01-01 (not used): look again"),
        (entry("2999-01-01") + entry("2999-01-01", "GHSA-9"), 1, "GHSA-9 of django is no longer found: remove it"),
    ],
)
def test_what_nobody_accepts_any_more_fails(osv: str, tmp_path: Path, allowed: str, code: int, said: str) -> None:
    (tmp_path / "allowed.toml").write_text(allowed)
    found, output = audit(osv, tmp_path / "allowed.toml")
    assert (found, "GHSA-2" in output) == (code, False)
    assert said in output


def test_where_the_advisories_cannot_be_reached_it_says_so(tmp_path: Path) -> None:
    (tmp_path / "allowed.toml").write_text("")
    for arguments, code in (((), 2), (("--offline-ok",), 0)):
        found, output = audit("http://127.0.0.1:9", tmp_path / "allowed.toml", *arguments)
        assert found == code and output.startswith("NOT AUDITED: the advisories cannot be reached")
