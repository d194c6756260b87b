"""The committed bundle is complete and asks nobody outside for anything."""

import re
from pathlib import Path

import pytest

BUNDLE = Path(__file__).resolve().parents[3] / "frontend" / "dist" / "tandem"
TEXTS = sorted(path for path in BUNDLE.iterdir() if path.suffix != ".woff2")
NAMESPACES = {"http://www.w3.org"}


@pytest.mark.parametrize(
    "name", ["app.js", "app.css", "dress.css", "theme.js", "icon.svg", "icons.svg", "inter-latin-wght-normal.woff2"]
)
def test_the_bundle_holds_the_files_that_templates_name(name: str) -> None:
    assert (BUNDLE / name).stat().st_size > 0


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.name)
def test_the_bundle_names_no_foreign_host(path: Path) -> None:
    found = set(re.findall(r"https?://[\w.-]*\w", path.read_text()))
    assert found <= NAMESPACES


def test_the_bundle_stays_small() -> None:
    assert (BUNDLE / "app.js").stat().st_size < 400_000
