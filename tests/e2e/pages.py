"""Page objects: what a person does on Tandem's pages, by the labels they read. No test logic here."""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

SECONDS = 1000.0
"""Playwright counts in milliseconds."""
POLL_SECONDS = 0.1


def wait_until(page: Page, holds: Callable[[], bool], what: str, timeout_seconds: float) -> None:
    """Ask again until it holds: the page's content security policy forbids Playwright's own `wait_for_function`."""
    deadline = time.monotonic() + timeout_seconds
    while not holds():
        if time.monotonic() > deadline:
            raise AssertionError(f"{what} did not come within {timeout_seconds:.0f} s")
        page.wait_for_timeout(POLL_SECONDS * SECONDS)


@dataclass(frozen=True, slots=True)
class LoginPage:
    page: Page
    address: str

    def log_in(self, username: str, password: str) -> "RunsPage":
        self.page.goto(f"{self.address}/login")
        self.page.get_by_label("User name").fill(username)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Log in").click()
        expect(self.page.get_by_role("heading", name="Home", exact=True)).to_be_visible()
        return RunsPage(self.page, self.address)


@dataclass(frozen=True, slots=True)
class RunsPage:
    page: Page
    address: str

    def open(self) -> "RunsPage":
        self.page.goto(f"{self.address}/runs")
        return self

    def new_run(self) -> "NewRunPage":
        # Home without runs offers it twice, at the top and where the runs would be.
        self.page.get_by_role("main").get_by_role("link", name="New run").first.click()
        expect(self.page.get_by_role("heading", name="New run")).to_be_visible()
        return NewRunPage(self.page, self.address)

    def row(self, name: str) -> Locator:
        return self.page.get_by_role("row").filter(has=self.page.get_by_role("link", name=name, exact=True))

    def open_run(self, name: str) -> "RunPage":
        self.row(name).get_by_role("link", name=name, exact=True).click()
        return RunPage(self.page)


@dataclass(frozen=True, slots=True)
class PoolPage:
    page: Page
    address: str

    def open(self) -> "PoolPage":
        self.page.goto(f"{self.address}/pool")
        expect(self.page.get_by_role("listbox", name="Nodes with their GPUs and CPU lanes")).to_be_visible()
        return self

    def cell(self, name: str) -> Locator:
        """The cell of a GPU or a lane, or the name of a node, by the beginning of what a screen reader says."""
        # Playwright ends the expression at a slash that is not escaped.
        beginning = re.escape(name).replace("/", r"\/")
        return self.page.get_by_role("option", name=re.compile(rf"^{beginning}\b"))

    @property
    def inspector(self) -> Locator:
        return self.page.get_by_role("complementary", name="What is selected")

    def act(self, action: str, reason: str = "") -> None:
        """Do it to what is selected."""
        self.inspector.get_by_label("Reason").fill(reason)
        self.inspector.get_by_role("button", name=action, exact=True).click()


@dataclass(frozen=True, slots=True)
class QueuePage:
    page: Page
    address: str

    def open(self) -> "QueuePage":
        self.page.goto(f"{self.address}/queue")
        expect(self.waiting).to_be_visible()
        return self

    @property
    def waiting(self) -> Locator:
        return self.page.get_by_role("region", name="Waiting runs")

    def row(self, name: str) -> Locator:
        """The row of a run that waits."""
        return self.waiting.get_by_role("row", name=re.compile(rf"^{re.escape(name)},"))

    def holder(self, name: str) -> Locator:
        """The row of a run that holds lanes."""
        rows = self.page.get_by_role("region", name="Runs that hold lanes").get_by_role("row")
        return rows.filter(has=self.page.get_by_role("link", name=name, exact=True))

    def look_for_alternatives(self, name: str) -> None:
        """Open or close what would start now in place of the run."""
        self.row(name).get_by_role("button", name="What would start now?").click()

    @property
    def alternatives(self) -> Locator:
        return self.page.get_by_role("list", name="What would start now")

    def give_reason(self, reason: str, action: str) -> None:
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_label("Reason").fill(reason)
        dialog.get_by_role("button", name=action).click()
        expect(dialog).to_have_count(0)

    @property
    def policy(self) -> Locator:
        return self.page.get_by_role("region", name="Policy")

    def try_policy(self, project: str, *, guaranteed: int) -> None:
        """Change a project's guarantee and see what that would change."""
        expect(self.policy.get_by_role("button", name="Save the policy")).to_be_disabled()
        self.policy.get_by_label(f"Guaranteed lanes of {project}").fill(str(guaranteed))
        expect(self.policy.get_by_role("button", name="Save the policy")).to_be_disabled()
        self.policy.get_by_role("button", name="Show what would change").click()

    def quota(self, project: str) -> Locator:
        quotas = self.page.get_by_role("region", name="Quotas").get_by_role("listitem")
        return quotas.filter(has=self.page.get_by_text(project, exact=True))


@dataclass(frozen=True, slots=True)
class GpuPage:
    """A GPU's own page."""

    page: Page

    @property
    def state(self) -> Locator:
        return self.page.locator(".page-head .pill").first

    @property
    def now(self) -> Locator:
        """The verdicts, what it waits for, and the actions."""
        return self.page.get_by_role("complementary", name="State and actions")

    @property
    def waits(self) -> Locator:
        return self.page.get_by_role("region", name="What it waits for")

    def step(self, name: str) -> Locator:
        """A step of the newest test."""
        return (
            self.page.get_by_role("list", name="Steps of the test").first.get_by_role("listitem").filter(has_text=name)
        )

    @property
    def uses(self) -> Locator:
        return self.page.get_by_role("region", name="Who used it").locator("tbody tr")

    def history(self, text: str) -> Locator:
        return self.page.get_by_role("region", name="History").get_by_role("listitem").filter(has_text=text)

    def act(self, action: str, reason: str = "") -> None:
        self.now.get_by_label("Reason").fill(reason)
        self.now.get_by_role("button", name=action, exact=True).click()


@dataclass(frozen=True, slots=True)
class NewRunPage:
    page: Page
    address: str

    def choose_preset(self, title: str) -> None:
        self.page.get_by_role("group", name="Presets").get_by_role("button", name=title).click()

    def fill(self, label: str, value: str) -> None:
        """Fill the field whose label begins with `label`; units follow it."""
        self.find(label).fill(value)

    def choose(self, label: str, option: str) -> None:
        """Choose an option of the drop-down whose label begins with `label`."""
        self.find(label).select_option(option)

    def find(self, label: str) -> Locator:
        """The field, in whichever section it is: the search goes there and shows it."""
        self.page.get_by_role("searchbox", name="Find a setting").fill(label)
        self.page.get_by_role("list", name="Settings found").get_by_role("button").first.click()
        field = self.field(label)
        expect(field).to_be_visible()
        return field

    def field(self, label: str) -> Locator:
        """The field, if it is on the page now."""
        return self.page.locator(".form-step").get_by_label(re.compile(rf"^{re.escape(label)}\b")).first

    def section(self, title: str) -> Locator:
        return self.page.get_by_role("navigation", name="Sections of the form").get_by_role("button", name=title)

    @property
    def errors(self) -> Locator:
        return self.page.locator(".field-error")

    @property
    def algebra(self) -> Locator:
        """The resolved batch algebra, in a sentence."""
        return self.page.locator(".algebra")

    @property
    def warnings(self) -> Locator:
        """What is legal and yet unlikely to work."""
        return self.page.locator(".summary .notice.warn").first

    def show_yaml(self) -> Locator:
        self.page.get_by_role("button", name="YAML").click()
        return self.page.get_by_role("textbox", name="Spec as YAML")

    def show_form(self) -> None:
        self.page.get_by_role("button", name="Form").click()

    def start(self, name: str) -> "RunPage":
        self.page.get_by_label("Name", exact=True).fill(name)
        start = self.page.get_by_role("button", name="Start the run")
        expect(start).to_be_enabled()
        start.click()
        run = RunPage(self.page)
        expect(run.heading(name)).to_be_visible(timeout=20 * SECONDS)
        return run


@dataclass(frozen=True, slots=True)
class RunPage:
    page: Page

    def heading(self, name: str) -> Locator:
        return self.page.get_by_role("heading", name=name)

    @property
    def state(self) -> Locator:
        return self.page.locator(".run-title .pill")

    @property
    def data_age(self) -> Locator:
        return self.page.locator(".run-title .badge")

    @property
    def connection_bar(self) -> Locator:
        """What is said across the page while its connection is lost."""
        return self.page.locator(".connection-bar")

    @property
    def num_batches_done(self) -> int:
        return int(self.page.locator(".run-progress b").first.inner_text())

    def wait_for_state(self, *states: str, timeout_seconds: float) -> None:
        expect(self.state).to_have_text(re.compile("|".join(states)), timeout=timeout_seconds * SECONDS)

    def wait_for_batches(self, number: int, timeout_seconds: float) -> None:
        wait_until(self.page, lambda: self.num_batches_done >= number, f"batch {number}", timeout_seconds)

    def tab(self, name: str) -> None:
        self.page.get_by_role("tab", name=name).click()

    def chart(self, title: str) -> Locator:
        """The drawn chart of a panel; there is none while the panel has no points."""
        return self.page.get_by_role("region", name=title, exact=True).locator("canvas")

    def latest_value(self, title: str) -> str:
        return self.page.get_by_role("region", name=title, exact=True).locator(".legend b").first.inner_text()

    @property
    def lanes(self) -> Locator:
        return self.page.get_by_role("img", name=re.compile(r"^Timeline of \d+ lanes"))

    def shares_of_lane_time(self) -> Locator:
        return self.page.locator(".bubble-row")

    @property
    def kinds_of_work(self) -> Locator:
        """The legend of the lanes: every class of lane time that occurred."""
        return self.page.get_by_role("list", name="Colours of lane time")

    def lane_time(self, name: str) -> Locator:
        """One row of the account of lane time by class."""
        return self.page.get_by_role("region", name="Where lane time went").get_by_role("row").filter(has_text=name)

    @property
    def decisions(self) -> Locator:
        """The rows of the lending ledger."""
        return self.page.get_by_role("region", name="Lending").locator("tbody tr")

    def staleness_columns(self) -> Locator:
        return self.page.get_by_role("img", name=re.compile(r"^Staleness of \d+ batch"))

    @property
    def pictures(self) -> Locator:
        return self.page.locator(".tile img")

    def wait_for_pictures(self, timeout_seconds: float) -> None:
        """Until a sample is not only named but painted."""
        is_painted = "images => images.some(image => image.complete && image.naturalWidth > 0)"
        wait_until(self.page, lambda: self.pictures.evaluate_all(is_painted), "a picture", timeout_seconds)

    @property
    def tiles(self) -> Locator:
        return self.page.locator("button.tile")

    @property
    def clips(self) -> Locator:
        return self.page.locator(".tile video")

    def wait_for_posters(self, timeout_seconds: float) -> None:
        """Until the clips are there, each with the picture that stands for it."""
        have_posters = "clips => clips.length > 0 && clips.every(clip => clip.poster !== '')"
        wait_until(self.page, lambda: self.clips.evaluate_all(have_posters), "a clip", timeout_seconds)

    def wait_for_playback(self, clip: Locator, timeout_seconds: float) -> None:
        """Until the clip has moved on since first looked at."""
        since = clip.evaluate("clip => clip.currentTime")
        moved = "(clip, since) => !clip.paused && clip.readyState >= 2 && clip.currentTime !== since"
        wait_until(self.page, lambda: clip.evaluate(moved, since), "a clip that plays", timeout_seconds)

    def wait_for_a_second_round(self, clip: Locator, timeout_seconds: float) -> None:
        """Until the clip has begun again."""
        clip.evaluate("clip => clip.addEventListener('seeked', () => { clip.dataset.rounds = '1'; })")
        has_begun_again = "clip => clip.dataset.rounds === '1' && !clip.paused"
        wait_until(self.page, lambda: clip.evaluate(has_begun_again), "the clip's second round", timeout_seconds)

    def open_resize(self) -> Locator:
        """The dialog in which the run is resized, with the run's lanes read."""
        self.page.get_by_role("button", name="Resize…").click()
        dialog = self.page.get_by_role("dialog")
        expect(dialog.get_by_role("row").nth(1)).to_be_visible()
        return dialog

    def cancel(self) -> None:
        self.page.get_by_role("button", name="Cancel", exact=True).click()
        self.page.get_by_role("button", name="Cancel the run").click()

    def replay(self, label: str, choice: str) -> Locator:
        """The result of a replay with one setting chosen."""
        self.tab("Replay")
        settings = self.page.get_by_role("form", name="Settings of the replay")
        settings.get_by_label(label).select_option(label=choice)
        settings.get_by_role("button", name="Replay", exact=True).click()
        return self.page.get_by_role("region", name="Result")

    def download_report(self, folder: Path) -> Path:
        self.page.get_by_label("More actions").click()
        with self.page.expect_download() as download:
            self.page.get_by_role("link", name="Download the report").click()
        target = folder / download.value.suggested_filename
        download.value.save_as(target)
        return target

    def download_lora(self, folder: Path) -> Path:
        self.tab("Checkpoints & weights")
        with self.page.expect_download() as download:
            self.versions.get_by_role("link", name="Download").first.click()
        target = folder / "lora.safetensors"
        download.value.save_as(target)
        return target

    @property
    def versions(self) -> Locator:
        """What was saved: checkpoints and weights."""
        return self.page.get_by_role("region", name="Saved versions")

    def download_archive(self, folder: Path) -> Path:
        """All files of the newest version."""
        with self.page.expect_download() as download:
            self.versions.get_by_role("link", name="Download all").first.click()
        target = folder / download.value.suggested_filename
        download.value.save_as(target)
        return target

    def recipe(self, name: str) -> str:
        """One of the recipes of the newest version."""
        toggle = self.versions.get_by_role("button", name="Fetch and load").first
        if toggle.get_attribute("aria-expanded") != "true":
            toggle.click()
        self.versions.get_by_role("button", name=name).click()
        return self.versions.locator("pre").inner_text()

    def mark(self) -> None:
        """Leave a mark that a reload would wipe away."""
        self.page.evaluate("window.notReloaded = true")

    @property
    def was_reloaded(self) -> bool:
        return not self.page.evaluate("window.notReloaded === true")
