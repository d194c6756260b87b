"""The committed bundle is complete and asks nobody outside for anything."""

import gzip
import re
from pathlib import Path

import pytest
from django.test import Client

from accounts.models import User

BUNDLE = Path(__file__).resolve().parents[3] / "frontend" / "dist" / "tandem"
TEXTS = sorted(path for path in BUNDLE.iterdir() if path.suffix != ".woff2")
NAMESPACES = {"http://www.w3.org"}
MAX_FIRST_LOAD_BYTES = 150_000
"""Of JavaScript, gzipped: at 10 Mbit/s it takes an eighth of a second."""


@pytest.mark.parametrize(
    "name", ["app.js", "app.css", "dress.css", "theme.js", "icon.svg", "icons.svg", "inter-latin-wght-normal.woff2"]
)
def test_the_bundle_holds_the_files_that_templates_name(name: str) -> None:
    assert (BUNDLE / name).stat().st_size > 0


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_the_bundle_names_no_foreign_host(path: Path) -> None:
    found = set(re.findall(r"https?://[\w.-]*\w", path.read_text()))
    assert found <= NAMESPACES


def first_load(page: str) -> set[str]:
    """The modules that a page needs before it shows anything: the entry, the page's own, and what they import."""
    waiting, found = ["app.js", page], set[str]()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += re.findall(r"""(?:from|import)["']\./([\w.-]+\.js)["']""", (BUNDLE / name).read_text())
    return found


@pytest.mark.parametrize("page", sorted(path.name for path in BUNDLE.glob("*_page.js")))
def test_the_first_load_of_each_page_stays_small(page: str) -> None:
    modules = first_load(page)
    assert sum(len(gzip.compress((BUNDLE / name).read_bytes())) for name in modules) < MAX_FIRST_LOAD_BYTES


def test_what_a_page_imports_counts_towards_its_first_load() -> None:
    assert first_load("run_page.js") > {"app.js", "run_page.js"}


@pytest.mark.parametrize(
    "address",
    ["/", "/runs", "/runs/new", "/compare", "/pool", "/queue", "/lending", "/usage", "/pool/occupancy", "/account"],
)
def test_the_shell_names_every_module_that_its_page_imports(client: Client, admin: User, address: str) -> None:
    """Else the browser would learn of some of them only when it has others."""
    client.force_login(admin)
    content = client.get(address).content.decode()
    named = re.findall(r'rel="modulepreload" href="/static/tandem/([\w.-]+)"', content)
    (page,) = [name for name in named if name.endswith("_page.js")]
    assert {"app.js", *named} == first_load(page)
    assert content.index("app.js") < content.index(page), "the entry asks the server for what the page waits for"
