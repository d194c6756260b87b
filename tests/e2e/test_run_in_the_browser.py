"""A person logs in, starts a short run, watches it move, cancels another, and loads the LoRA of the first."""

import re
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from playwright.sync_api import Browser, expect

from tests.e2e import run_log
from tests.e2e.pages import RunsPage
from tests.e2e.run_pages import NewRunPage, RunPage
from tests.e2e.stack import Stack
from tests.e2e.waits import SECONDS
from tests.e2e.weak_network import WeakNetwork

pytestmark = [pytest.mark.e2e, pytest.mark.ray]

ROOT = Path(__file__).resolve().parents[2]
PRESET = "Shapes, a quick try"


def test_the_form_says_what_is_wrong_before_anything_starts(runs_page: RunsPage) -> None:
    form = runs_page.new_run()
    form.choose_preset(PRESET)
    expect(form.algebra).to_be_visible()
    form.fill("Mini-batches", "3")
    expect(form.errors).to_contain_text("must divide")
    expect(form.section("Budget")).to_contain_text("1 to put right")
    expect(form.page.get_by_role("button", name="Start the run")).to_be_disabled()
    form.fill("Mini-batches", "1")
    form.fill("LoRA target modules", "to_q, ")
    expect(form.algebra).to_contain_text("trajectories a batch")
    expect(form.field("LoRA target modules")).to_have_value("to_q, ")
    written = form.show_yaml()
    expect(written).to_have_value(re.compile(r"num_minibatches: 1\n"))
    expect(written).to_have_value(re.compile(r"targets:\n  - to_q\n"))


def test_pipeline_settings_that_mean_nothing_say_so(runs_page: RunsPage) -> None:
    form = runs_page.new_run()
    form.choose_preset(PRESET)
    expect(form.find("Cap on their weight")).to_be_disabled()
    form.choose("Staleness allowed", "1")
    form.fill("Cap on their weight", "0.5")
    expect(form.errors).to_contain_text("importance_cap")
    form.choose("Placement", "colocated")
    expect(form.field("Staleness allowed")).to_be_disabled()
    expect(form.field("Staleness allowed")).to_have_value("0")
    expect(form.errors).to_have_count(0)
    expect(form.page.get_by_role("button", name="Start the run")).to_be_enabled()


def test_an_algorithm_brings_its_own_settings(runs_page: RunsPage) -> None:
    form = runs_page.new_run()
    form.choose_preset(PRESET)
    form.find("Clip range")
    form.choose("Algorithm", "mix_grpo")
    expect(form.field("Window moves every")).to_have_value("25")
    expect(form.errors).to_contain_text("algorithm.window_size")
    form.fill("Window", "2")
    expect(form.errors).to_have_count(0)
    form.choose("Algorithm", "diffusion_dpo")
    expect(form.field("Clip range")).to_have_count(0)
    expect(form.field("Preferences")).to_have_value("1")
    expect(form.find("Noise level")).to_be_disabled()


def test_a_preset_of_the_hub_is_chosen_from_a_table_and_refused_by_a_pool_too_small(runs_page: RunsPage) -> None:
    form = runs_page.new_run()
    form.page.get_by_text(re.compile(r"^Models of the hub")).click()
    form.choose_preset("Wan2.2 A14B, video: LoRA, 8 GPUs")
    expect(form.find("Guidance at low noise")).to_be_enabled()
    form.find("Rollout lanes")
    expect(form.errors.filter(has_text="CPU lanes of the pool default").first).to_be_visible()
    form.choose("Trained weights", "full")
    expect(form.find("LoRA rank")).to_be_disabled()


@pytest.mark.timeout(600)
def test_a_run_moves_live_and_leaves_a_lora_that_diffusers_loads(
    runs_page: RunsPage, stack: Stack, browser: Browser, tmp_path: Path
) -> None:
    network = WeakNetwork(runs_page.page)
    form = runs_page.new_run()
    form.choose_preset(PRESET)
    form.choose("Lend trainer lanes", "greedy")
    form.choose("Staleness allowed", "1")
    form.fill("Fragment", "2")
    # In some batch its trainer lane is idle for long enough to be lent; in each of the preset's three it may be busy.
    form.fill("Length", "12")
    run = form.start("browser run")
    run.mark()
    run.wait_for_state("running", timeout_seconds=240)
    run.wait_for_batches(1, timeout_seconds=120)
    _lanes_are_forks(stack)
    expect(run.chart("Reward").first).to_be_visible()
    run.tab("Pipeline")
    expect(run.lanes).to_be_visible()
    expect(run.shares_of_lane_time().first).to_contain_text("busy")
    expect(run.kinds_of_work).to_contain_text("Lent generate", timeout=60 * SECONDS)
    run.tab("Overview")
    run.wait_for_pictures(timeout_seconds=60)
    run.tab("Samples")
    run.wait_for_pictures(timeout_seconds=60)
    _survives_a_lost_connection(run, network)
    assert not run.was_reloaded, "everything so far came over the websocket"

    done = run.num_batches_done
    run.page.reload()
    run.wait_for_batches(done, timeout_seconds=30)
    run.wait_for_state("completed", timeout_seconds=180)
    _accounts_for_its_lanes(run)
    run_log.is_searched(run)
    _opens_without_the_server(run.download_report(tmp_path), browser)
    _loads_in_diffusers(run.download_lora(tmp_path))
    _is_replayed_and_rerun(run)


@pytest.mark.timeout(240)
def test_a_run_that_was_started_while_its_last_edit_was_checked_is_cancelled_from_its_page(
    runs_page: RunsPage,
) -> None:
    form = runs_page.new_run()
    form.choose_preset("Shapes demo")
    run: RunPage = form.start_while_an_edit_is_checked("to be cancelled", "Group size", "8")
    run.wait_for_state("starting", "running", timeout_seconds=60)
    run.cancel()
    run.wait_for_state("cancelled", timeout_seconds=120)
    expect(runs_page.open().row("to be cancelled")).to_contain_text("cancelled")


def _lanes_are_forks(stack: Stack) -> None:
    """The lanes of a node without accelerators begin with their libraries, which one process has imported."""
    parents = set()
    for process in psutil.Process(stack.pid).children(recursive=True):
        # Short-lived ones, of the database and of Ray, end meanwhile.
        with suppress(psutil.NoSuchProcess):
            if re.match(r"ray::(Rollout|Trainer|Reward)Actor", process.name()):
                parents.add(process.ppid())
    (server,) = parents
    assert "worker.engine.forkserver.server" in psutil.Process(server).cmdline()


def _survives_a_lost_connection(run: RunPage, network: WeakNetwork) -> None:
    """The connection dies without a word: the page blames the connection and not the run, and catches up afterwards."""
    network.cut()
    expect(run.connection_bar).to_contain_text("Your connection to the server is lost", timeout=12_000)
    expect(run.data_age).to_contain_text("reconnecting")
    network.mend()
    expect(run.connection_bar).to_have_count(0, timeout=5_000)
    expect(run.data_age).to_have_text(re.compile("live|final"))


def _accounts_for_its_lanes(run: RunPage) -> None:
    """The pipeline tab: every lane-second has a class, lending its decisions, every batch its staleness."""
    run.tab("Pipeline")
    expect(run.lane_time("Lent generate")).to_contain_text("%")
    expect(run.lane_time("Together")).to_contain_text("100.0 %")
    expect(run.decisions.first).to_contain_text("trainer-0")
    expect(run.staleness_columns()).to_be_visible()


def _opens_without_the_server(report: Path, browser: Browser) -> None:
    """The report from its file, in a profile that has no network: all is drawn, nothing is fetched, no error."""
    context = browser.new_context(offline=True)
    page, requests, errors = context.new_page(), list[str](), list[str]()
    page.on("request", lambda request: requests.append(request.url))
    page.on("console", lambda message: errors.append(message.text))
    page.goto(report.as_uri())
    expect(page.locator('[data-curve="reward/mean"] .line')).to_be_visible()
    expect(page.locator('[data-kind="train"]')).to_be_attached()
    expect(page.get_by_text("placement: disaggregated")).to_be_visible()
    expect(page.get_by_role("row", name="diffusers")).to_be_visible()
    images = page.locator("section[aria-label=Pictures] img")
    assert images.count() > 1
    assert images.evaluate_all("images => images.every(image => image.complete && image.naturalWidth > 0)")
    assert [url for url in requests if not url.startswith(("file:", "data:"))] == []
    assert errors == []
    context.close()


def _is_replayed_and_rerun(run: RunPage) -> None:
    """What would have been on policy: told with the error of the same replay as it ran, and ready to be started."""
    result = run.replay("Staleness allowed", "0")
    expect(result).to_contain_text("Replayed as it ran:", timeout=30_000)
    expect(result).to_contain_text("Staleness allowed: 1 → 0")
    expect(run.lanes).to_have_count(2)
    expect(run.page.get_by_role("region", name="Ahead or behind").get_by_role("paragraph")).to_contain_text("the run")
    result.get_by_role("link", name="Rerun with these settings").click()
    expect(NewRunPage(run.page, run.page.url).find("Staleness allowed")).to_have_value("0")


def _loads_in_diffusers(path: Path) -> None:
    from diffusers import FluxPipeline
    from safetensors.torch import load_file

    pipeline = FluxPipeline.from_pretrained(ROOT / "deploy" / "models" / "shapes")
    pipeline.load_lora_weights(load_file(path))
    assert pipeline.get_active_adapters()


def test_a_saved_view_is_there_after_a_reload(runs_page: RunsPage) -> None:
    page = runs_page.open().page
    group, views = page.get_by_label("Group by"), page.locator("summary", has_text="Views")
    group.select_option(label="By base model")
    views.click()
    page.get_by_label("Name of this view").fill("by model")
    page.get_by_role("button", name="Save", exact=True).click()
    expect(page.get_by_role("region", name="Yours")).to_contain_text("by model")
    runs_page.open()
    expect(group).to_have_value("")
    views.click()
    page.get_by_role("button", name="by model", exact=True).click()
    expect(group).to_have_value("model")
    page.get_by_role("button", name="Forget the view by model").click()
    expect(page.get_by_role("region", name="Yours")).to_be_hidden()
