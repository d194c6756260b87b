"""`make audit`: asks OSV for known vulnerabilities of every locked Python and npm package.

OSV (https://google.github.io/osv.dev/api/) holds the advisories of PyPI and of GitHub, which pip-audit and npm audit
ask for; one question covers both locks, and needs no package beside Python. What is known and accepted stands in
`audit_allowed.toml` with a reason and a date until which it holds.

Exit codes: 0 nothing found, 1 something found or an entry that no longer holds, 2 OSV cannot be reached; with
`--offline-ok` that is 0, and said plainly.
"""

import json
import os
import re
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
OSV = os.environ.get("TANDEM_ADVISORIES_URL") or "https://api.osv.dev"
ALLOWED = Path(os.environ.get("TANDEM_AUDIT_ALLOWED") or Path(__file__).with_name("audit_allowed.toml"))
PYTHON_LOCKS = ("web.lock", "engine.lock", "mirrors.lock", "dev.lock", "torch.txt")
NPM_LOCKS = ("frontend/package-lock.json", "frontend/contract/package-lock.json")
MAX_QUERIES = 1000
"""Of one request, OSV's bound."""
TIMEOUT_SECONDS = 30.0
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)


class UnreachableError(Exception):
    """OSV does not answer."""


@dataclass(frozen=True, slots=True, order=True)
class Package:
    ecosystem: str
    name: str
    version: str

    @property
    def query(self) -> dict[str, Any]:
        return {"package": {"ecosystem": self.ecosystem, "name": self.name}, "version": self.version}

    def __str__(self) -> str:
        return f"{self.ecosystem} {self.name} {self.version}"


def locked_packages() -> list[Package]:
    found = set()
    for lock in PYTHON_LOCKS:
        text = (ROOT / "deploy" / "requirements" / lock).read_text()
        found |= {Package("PyPI", name.lower(), version) for name, version in _PINNED.findall(text)}
    for lock in NPM_LOCKS:
        if (path := ROOT / lock).exists():
            found |= set(_npm_packages(json.loads(path.read_text())))
    return sorted(found)


def _npm_packages(lock: dict[str, Any]) -> Iterator[Package]:
    for path, entry in lock["packages"].items():
        if "node_modules/" in path and "version" in entry:
            yield Package("npm", entry.get("name") or path.rpartition("node_modules/")[2], entry["version"])


def advisories(packages: list[Package]) -> Iterator[tuple[Package, dict[str, Any]]]:
    """Each package with each advisory that holds for it. Raises `UnreachableError`."""
    for begin in range(0, len(packages), MAX_QUERIES):
        asked = packages[begin : begin + MAX_QUERIES]
        answer = _ask("/v1/querybatch", {"queries": [package.query for package in asked]})
        for package, result in zip(asked, answer["results"], strict=True):
            for found in result.get("vulns", ()):
                advisory = _ask(f"/v1/vulns/{found['id']}")
                if "withdrawn" not in advisory:
                    yield package, advisory


def _ask(path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(OSV + path, data, {"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as answer:
            found: dict[str, Any] = json.load(answer)
    except (OSError, ValueError) as error:
        raise UnreachableError(f"{OSV}: {getattr(error, 'reason', None) or error}") from error
    return found


def _names(advisory: dict[str, Any]) -> set[str]:
    return {advisory["id"], *advisory.get("aliases", ())}


def problems(found: Iterable[tuple[Package, dict[str, Any]]], allowed: list[dict[str, Any]]) -> list[str]:
    """A sentence for each advisory that is not allowed, and for each entry that allows nothing any more."""
    told, used = [], set()
    for package, advisory in found:
        entry = next((one for one in allowed if one["id"] in _names(advisory) and one["package"] == package.name), None)
        if entry is None:
            told.append(f"{package}: {', '.join(sorted(_names(advisory)))}: {advisory.get('summary', 'no summary')}")
            continue
        used.add(entry["id"])
        if entry["until"] < date.today():
            told.append(f"{package}: {entry['id']} was accepted until {entry['until']} ({entry['reason']}): look again")
    told += [
        f"{one['id']} of {one['package']} is no longer found: remove it" for one in allowed if one["id"] not in used
    ]
    return told


def main() -> int:
    allowed = tomllib.loads(ALLOWED.read_text()).get("allowed", [])
    packages = locked_packages()
    try:
        told = problems(advisories(packages), allowed)
    except UnreachableError as error:
        print(
            f"NOT AUDITED: the advisories cannot be reached ({error}). {len(packages)} locked packages are unchecked."
        )
        return 0 if "--offline-ok" in sys.argv[1:] else 2
    print("\n".join(told) or f"no known vulnerability in {len(packages)} locked packages")
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main())
