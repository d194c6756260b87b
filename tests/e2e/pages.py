"""Page objects of what comes before any run: what a person does, by the labels they read. No test logic here, nor in
`tests.e2e.run_pages` and `tests.e2e.pool_pages`."""

from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

from tests.e2e.run_pages import NewRunPage, RunPage


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

    def new_run(self) -> NewRunPage:
        # Home without runs offers it twice, at the top and where the runs would be.
        self.page.get_by_role("main").get_by_role("link", name="New run").first.click()
        expect(self.page.get_by_role("heading", name="New run")).to_be_visible()
        return NewRunPage(self.page, self.address)

    def row(self, name: str) -> Locator:
        return self.page.get_by_role("row").filter(has=self.page.get_by_role("link", name=name, exact=True))

    def open_run(self, name: str) -> RunPage:
        self.row(name).get_by_role("link", name=name, exact=True).click()
        return RunPage(self.page)
