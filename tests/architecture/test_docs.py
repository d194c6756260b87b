"""The documents are true to the tree: what they link to and name exists, and their diagrams are the code's.

A page that names a file which was moved or renamed fails here, in the change that moved it.
"""

import ast
import re
import subprocess
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from tests.bench import overhead_tables, pipeline_tables, robust_tables
from worker.contracts.names import LaneRole
from worker.contracts.states import LEGAL_MOVES

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "deploy" / "docs"
INDEX = DOCS / "README.md"
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted(DOCS.rglob("*.md"))]

LINK = re.compile(r"\]\(([^)\s]+)\)|(?:src|href)=\"([^\"]+)\"")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
TREE_PATH = re.compile(r"(?:platform|worker|frontend|templates|migrations|deploy|tests)/[\w./-]*")
FILE_NAME = re.compile(r"[\w-]+\.(?:py|ts|tsx|css|sh|toml|yaml|md)")
"""A file named without its folder; a reader's own begins with `my_`. JSON is left out: run folders and checkpoints hold
files that the tree does not."""
MODULE = re.compile(r"\b(?:worker|tests)(?:\.\w+)+")
MAKE = re.compile(r"\bmake ([a-z]+(?:-[a-z]+)*)\b(?!-)")
GENERATED = {
    **pipeline_tables.DOCUMENTS,
    robust_tables.DOCUMENT: robust_tables.BLOCKS,
    overhead_tables.DOCUMENT: overhead_tables.BLOCKS,
}
"""By document: the functions that write its tables, each between markers of its name."""
ARROW = re.compile(r"^ +(\w+) --> (\w+)$", re.MULTILINE)


@cache
def tree() -> frozenset[PurePosixPath]:
    """Every file and folder that is, or may be, committed. A folder of nothing but caches is none of them."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    files = [PurePosixPath(line) for line in listing.splitlines() if (ROOT / line).exists()]
    return frozenset(place for file in files for place in (file, *file.parents))


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to a page's headings."""
    headings = re.findall(r"^#+ (.+)$", FENCED.sub("", text), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path, text: str) -> Iterator[str]:
    """Relative links of a page that lead to no file, or to no heading of it."""
    for target in (first or second for first, second in LINK.findall(FENCED.sub("", text))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        found = (page.parent / path).resolve() if path else page
        is_there = found.exists()
        if not is_there or (anchor and anchor not in anchors(text if found == page else found.read_text())):
            yield target


def missing_paths(text: str) -> Iterator[str]:
    """Paths, file names and modules between backticks, and in blocks of code, that are not in the tree."""
    names = {place.name for place in tree()}
    words = [word for block in FENCED.findall(text) for word in re.split(r"[\s\"'()]+", block)]
    for code in [*CODE.findall(FENCED.sub("", text)), *words]:
        if TREE_PATH.fullmatch(code):
            if PurePosixPath(code) not in tree():
                yield code
        elif FILE_NAME.fullmatch(code):
            if code not in names and not code.startswith("my_"):
                yield code
        else:
            yield from (module for module in MODULE.findall(code) if not names_something(module))


def names_something(dotted: str) -> bool:
    """Whether this is a module or package of the tree, or a name that stands in the module before it."""
    *parents, last = dotted.split(".")
    folder = PurePosixPath(*parents)
    if {folder / last, folder / f"{last}.py"} & tree():
        return True
    module = folder.with_suffix(".py")
    return module in tree() and re.search(rf"\b{last}\b", (ROOT / module).read_text()) is not None


def mermaid(heading: str) -> set[tuple[str, str]]:
    """The arrows of the first diagram below a heading of the architecture page."""
    text = (DOCS / "reference" / "architecture.md").read_text()
    diagram = text.split(f"{heading}\n", 1)[1].split("```mermaid\n", 1)[1].split("```", 1)[0]
    return set(ARROW.findall(diagram))


def imports_between(folders: dict[str, Path]) -> set[tuple[str, str]]:
    """Which of these packages imports which other one, anywhere in its code."""
    packages = {".".join(path.relative_to(ROOT).parts): name for name, path in folders.items()}
    found: set[tuple[str, str]] = set()
    for name, folder in folders.items():
        for path in folder.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                modules = [node.module] if isinstance(node, ast.ImportFrom) and node.module else []
                modules += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
                found |= {
                    (name, other)
                    for module in modules
                    for package, other in packages.items()
                    if f"{module}.".startswith(f"{package}.") and other != name
                }
    return found


def test_every_relative_link_of_the_docs_leads_to_a_file_and_a_heading() -> None:
    broken = {page.relative_to(ROOT): links for page in PAGES if (links := [*broken_links(page, page.read_text())])}
    assert broken == {}


def test_every_path_that_the_docs_name_is_in_the_tree() -> None:
    missing = {page.relative_to(ROOT): found for page in PAGES if (found := [*missing_paths(page.read_text())])}
    assert missing == {}


def test_a_broken_link_and_a_missing_path_are_found() -> None:
    links = "# A title\n[a](nowhere.md) [b](#a-title) [c](#other) [d](https://example.org) ![e](gone.png)"
    assert [*broken_links(ROOT / "README.md", links)] == ["nowhere.md", "#other", "gone.png"]
    paths = "`worker/engine` `worker/none.py` `local.py` `gone.py` `worker.engine.local` `python -m worker.engine.none`"
    block = "\n```sh\npython deploy/none.py --scorer my_scorer.py\n```\n"
    assert [*missing_paths(paths + block)] == ["worker/none.py", "gone.py", "worker.engine.none", "deploy/none.py"]


def test_every_make_target_that_the_docs_name_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = {
        target
        for page in PAGES
        for code in [*CODE.findall(page.read_text()), *FENCED.findall(page.read_text())]
        for target in MAKE.findall(code)
    }
    assert named and named <= targets


def test_every_page_can_be_reached_from_the_index() -> None:
    linked: defaultdict[Path, set[Path]] = defaultdict(set)
    for page in DOCS.rglob("*.md"):
        for target, _ in LINK.findall(page.read_text()):
            linked[page].add((page.parent / target.partition("#")[0]).resolve())
    reached, waiting = {INDEX}, [INDEX]
    while waiting:
        fresh = {page for page in linked[waiting.pop()] if page.suffix == ".md"} - reached
        reached |= fresh
        waiting += fresh
    assert set(DOCS.rglob("*.md")) - reached == set()


def test_the_diagram_of_packages_shows_the_imports_of_the_code() -> None:
    rooms = (path for path in (ROOT / "worker").iterdir() if path.is_dir() and path.name != "__pycache__")
    packages = {path.name: path for path in rooms}
    assert mermaid("## Packages and imports") == imports_between({**packages, "platform": ROOT / "platform"})


def test_the_diagram_of_scheduling_shows_the_imports_of_the_code() -> None:
    folder = ROOT / "worker" / "scheduling"
    packages = {path.name: path for path in folder.iterdir() if path.is_dir() and path.name != "__pycache__"}
    assert mermaid("### Inside scheduling") == imports_between(packages)


def test_the_diagram_of_states_shows_the_legal_moves() -> None:
    moves = {(old.value, new.value) for old, allowed in LEGAL_MOVES.items() for new in allowed}
    assert mermaid("## The life of a run") == moves


def test_the_glossary_defines_every_word_once() -> None:
    text = (DOCS / "reference" / "glossary.md").read_text()
    defined = Counter(
        word.lower() for words in re.findall(r"^\*\*(.+?)\.\*\*", text, re.M) for word in words.split(", ")
    )
    assert [word for word, number in defined.items() if number > 1] == []
    kept = {
        *("lane", "fragment", "group", "batch", "gang", "lend", "bubble", "spool", "staleness", "bundle", "pull"),
        *("publish", "snapshot", "replay", "prompt", "trajectory", "rollout", "micro-batch", "mini-batch"),
        *("adapter", "attempt", "plan", "span", "shard", "policy version", "split", "unit", "preview"),
    }
    assert kept - set(defined) == set()
    assert all(role.value in text for role in LaneRole)


@pytest.mark.parametrize("name", GENERATED)
def test_a_document_has_the_markers_of_its_generated_tables(name: str) -> None:
    text = (ROOT / name).read_text()
    for block in GENERATED[name]:
        assert text.count(f"<!-- {block.__name__} -->\n") == text.count(f"<!-- /{block.__name__} -->") == 1
