"""Every service that changes something for a user appends to the audit log: found by reading the source."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PLATFORM = Path(__file__).resolve().parents[2] / "platform"
READERS = ("selectors.py", "access.py")
ONLY_READ = {
    "accounts/api_tokens.py:tokens_of",
    "accounts/sign_in/still_signed_in.py:is_still_signed_in",
    "analysis/prometheus/run_series.py:run_series",
    "analysis/prometheus/series.py:as_text",
    "analysis/replay/replays.py:replay",
    "api/filters.py:filter_runs",
    "fleet/pools/pool_services.py:moves_after",
    "runs/bulk_actions.py:act_on_runs",
    "runs/home_overview.py:home_overview",
    "runs/pool/pool_overview.py:pool_overviews",
    "fleet/shares/spending.py:spendings",
    "runs/pool/pool_view.py:pool_rows",
    "runs/pool/pool_view.py:node_row",
    "runs/pool/pool_view.py:gpu_row",
    "runs/pool/pool_view.py:lane_row",
    "runs/queue/queue_board.py:project_names",
    "runs/queue/queue_board.py:queue_rows",
    "runs/queue/queue_board.py:running_rows",
    "runs/pool/share_view.py:share_rows",
    "runs/resize_body.py:run_size",
    "runs/run_lines.py:run_line",
    "runs/run_lines.py:run_lines",
    "runs/pool/lane_usage.py:usage",
    "runs/pool/lane_usage.py:parts",
    "runs/pool/daily_usage.py:daily_usage",
    "runs/pool/gpu_view.py:gpu_uses",
    "runs/pool/gpu_view.py:gpu_health_rows",
    "fleet/states/occupancy.py:occupancy",
    "accounts/audit_log.py:audit_entries",
    "server/stack/demo.py:create_demo_run",
    "gallery/lineage.py:lineage",
    # The services that it calls record what they do.
    "operations/services.py:cancel_operation",
    # Keeps what was shown; the audit log has who asks for it.
    "retention/deletion_preview.py:preview_deletion",
    "telemetry/sockets/socket_auth.py:require_signed_in",
    "telemetry/arrow/lend_stream.py:lend_stream",
    "telemetry/lending/lend_listing.py:lends",
    "telemetry/lending/lend_sums.py:sums",
}
"""Functions that take a user and change nothing themselves."""


def functions_with_a_user(source: str) -> Iterator[ast.FunctionDef]:
    """Public functions of a module with an argument `user`."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            arguments = [*node.args.args, *node.args.kwonlyargs]
            if any(argument.arg == "user" for argument in arguments):
                yield node


def recording(source: str) -> set[str]:
    """Functions of a module that call `record`, by themselves or through another function of the module."""
    calls: dict[str, set[str]] = {}
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef):
            called = (call.func for call in ast.walk(node) if isinstance(call, ast.Call))
            calls[node.name] = {name.id for name in called if isinstance(name, ast.Name)}
    found = {"record"}
    while more := {name for name, called in calls.items() if name not in found and called & found}:
        found |= more
    return found


def unrecorded(root: Path) -> list[str]:
    missing = []
    for path in sorted(root.rglob("*.py")):
        if path.name in READERS or "views" in path.parts or path.parent.name == "audit":
            continue
        source = path.read_text()
        known = recording(source)
        missing += [
            f"{path.relative_to(root)}:{function.name}"
            for function in functions_with_a_user(source)
            if function.name not in known
        ]
    return missing


def test_every_service_that_changes_something_for_a_user_is_audited() -> None:
    assert set(unrecorded(PLATFORM)) == ONLY_READ


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("def make(*, user): Row.objects.create()", ["shop.py:make"]),
        ("def make(*, user): record('x', 1, user=user)", []),
        ("def make(*, user): _do(user)\ndef _do(user): record('x', 1, user=user)", []),
        ("def make(*, user): _do(user)\ndef _do(user): pass", ["shop.py:make"]),
        ("def look(row): pass", []),
    ],
)
def test_the_search_finds_what_it_should(body: str, expected: list[str], tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(body)
    assert unrecorded(tmp_path) == expected
