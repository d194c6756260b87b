"""The script modules of a page, as the frontend's build lists them.

A browser learns of a module's imports only when it has that module: named in the shell, all of them come at once.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

from django.contrib.staticfiles import finders

LISTING = "tandem/modules.json"
"""Vite's manifest of the bundle: https://vite.dev/guide/backend-integration."""
ENTRY = "src/main.tsx"


@cache
def modules_of(page: str) -> tuple[str, ...]:
    """The static files of the scripts that a page needs before it shows anything, beside the entry itself.

    Raises `LookupError` for a page that the bundle has no script of, and for a bundle that was not built.
    """
    found = finders.find(LISTING)
    if not isinstance(found, str):
        raise LookupError(f"{LISTING} is missing: build the frontend (`npm run build` in frontend/)")
    modules: dict[str, Any] = json.loads(Path(found).read_text())
    name = f"{page.replace('-', '_')}_page"
    # Stylesheets and fonts are listed too, without a name.
    first = next((key for key, module in modules.items() if module.get("name") == name), None)
    if first is None:
        raise LookupError(f"the bundle has no module {name}: build the frontend again (`npm run build` in frontend/)")
    needed: dict[str, None] = {}
    waiting = [ENTRY, first]
    while waiting:
        key = waiting.pop()
        if key not in needed:
            needed[key] = None
            waiting.extend(modules[key].get("imports", ()))
    return tuple(sorted(modules[key]["file"] for key in needed if key != ENTRY))
