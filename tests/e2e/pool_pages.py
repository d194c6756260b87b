"""Page objects of the pool: its map, its queue, a GPU's own page."""

import re
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect


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
