"""Page objects of a run: the form that makes one, and its page."""

import re
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, Route, expect

from tests.e2e.waits import SECONDS, wait_until

CHECKS = "**/api/v1/runs:validate"
"""Requests by which the form has its spec checked."""


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

    @property
    def start_button(self) -> Locator:
        return self.page.get_by_role("button", name="Start the run")

    def start(self, name: str) -> "RunPage":
        self.page.get_by_label("Name", exact=True).fill(name)
        expect(self.start_button).to_be_enabled()
        self.start_button.click()
        return self._started(name)

    def start_while_an_edit_is_checked(self, name: str, label: str, value: str) -> "RunPage":
        """Fill a field, and press the button before the server has answered whether the spec may start so."""
        self.page.get_by_label("Name", exact=True).fill(name)
        expect(self.start_button).to_be_enabled()
        held: list[Route] = []
        self.page.route(CHECKS, lambda check: held.append(check))
        with self.page.expect_request(CHECKS):
            self.fill(label, value)
        # As a person does, who does not ask first whether a button is enabled.
        self.start_button.click(force=True)
        for check in held:
            check.continue_()
        self.page.unroute(CHECKS)
        return self._started(name)

    def _started(self, name: str) -> "RunPage":
        run = RunPage(self.page)
        # Of the form alone: the plan beside it may still say what it had against the spec before.
        refused = self.page.get_by_role("complementary", name="Start and plan").locator("form").get_by_role("alert")
        expect(run.heading(name).or_(refused).first).to_be_visible(timeout=60 * SECONDS)
        assert not refused.count(), f"the run was not started: {refused.all_inner_texts()}"
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
