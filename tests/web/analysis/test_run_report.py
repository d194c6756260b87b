"""The report of a run: complete, bounded, and without a reference to anything outside itself."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from analysis.report import report_pictures
from analysis.report.run_report import render_report
from analysis.templatetags.report_numbers import in_time, measured
from runs.models import Run
from runs.selectors import run_body_for

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).resolve().parents[3]
TOKENS = ROOT / "frontend" / "src" / "styles" / "tokens.css"
STYLE = ROOT / "templates" / "analysis" / "report.css"
_COLOUR = re.compile(r"--span-([a-z_-]+): (light-dark\([^)]*\))")


def test_a_report_holds_curves_pictures_lane_time_spec_and_versions(reported: Run, alice: User) -> None:
    html = render_report(reported, run_body_for(alice, reported))
    assert re.findall(r'data-curve="([^"]+)"', html)[:2] == ["reward/mean", "eval/reward"]
    assert html.count('<img src="data:image/png;base64,') == 2
    assert set(re.findall(r'data-kind="([^"]+)"', html)) == {"generate", "idle", "train"}
    assert "0.250 →" in html and "0.750" in html
    assert "num_prompts_per_batch: 2" in html and "2.13.0" in html
    assert re.findall(r'num">([\d.]+) %', html) == ["37.5", "25.0", "25.0", "12.5", "100.0"]


def test_a_report_refers_to_nothing_outside_itself(reported: Run, alice: User) -> None:
    html = render_report(reported, run_body_for(alice, reported))
    addresses = re.findall(r'(?:src|href|action)="([^"]*)"|url\(([^)]*)\)|@import', html)
    assert addresses and all(found.startswith("data:") for pair in addresses for found in pair if found)
    assert "<script" not in html


def test_what_people_wrote_is_escaped(reported: Run, alice: User) -> None:
    html = render_report(reported, run_body_for(alice, reported))
    assert "a &lt;b&gt;&quot;red&quot;&lt;/b&gt; square &amp; circle" in html
    assert "<circles>" not in html and 'a <b>"red"' not in html


def test_pictures_are_bounded_in_bytes_and_the_rest_is_counted(
    reported: Run, alice: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(report_pictures, "MAX_TOTAL_BYTES", 100)
    html = render_report(reported, run_body_for(alice, reported))
    assert html.count("<img ") == 1
    assert "1 pictures are shown here; 1 of the same batches are left out" in " ".join(html.split())


def test_a_run_that_reported_nothing_has_a_report_that_says_so(make_run: Callable[..., Run], alice: User) -> None:
    html = render_report(run := make_run(), run_body_for(alice, run))
    assert "has reported no batch" in html and "no held-out pictures" in html and "no lane time" in html


def test_only_members_of_the_project_may_download_it(reported: Run, alice: User, charlie: User) -> None:
    client = Client()
    client.force_login(alice)
    answer = client.get(f"/api/v1/runs/{reported.pk}/report")
    assert answer.status_code == 200
    assert answer["Content-Disposition"] == 'attachment; filename="squares-circles-report.html"'
    client.force_login(charlie)
    assert client.get(f"/api/v1/runs/{reported.pk}/report").status_code == 404


def test_colours_of_lane_time_are_those_of_the_pages() -> None:
    pages = dict(_COLOUR.findall(TOKENS.read_text()))
    report = {name.replace("_", "-"): colour for name, colour in _COLOUR.findall(STYLE.read_text())}
    del pages["idle-line"], report["unaccounted"]
    assert report == pages


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.12345, "0.123"), (1234.6, "1,235"), (0.0, "0"), (None, "–"), (2.3e-7, "2.3e-07")],
)
def test_numbers_have_three_digits(value: Any, text: str) -> None:
    assert measured(value) == text


def test_durations_are_in_the_unit_that_people_would_use() -> None:
    assert [in_time(seconds) for seconds in (4.25, 90, 3725, None)] == ["4.25 s", "2 min", "1 h 2 min", "–"]
