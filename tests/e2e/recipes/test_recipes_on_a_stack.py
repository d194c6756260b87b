"""Every recipe on a running stack, in the order of a week: what its page says is pasted, drivers and lanes are real.

`tests/client/recipes` holds the pages to what the web does with reports; here runs are trained, and what they leave is
read by those who would use it.
"""

import json
import shutil
import sys
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

import pytest
import yaml
from safetensors.numpy import load_file

from tests.client.recipes.pages import read_page, workflow_job
from tests.client.recipes.reader import Reader
from tests.e2e.own_pool.joined_nodes import Nodes
from tests.e2e.rest import START_SECONDS, Rest, wait_until
from tests.e2e.stack import free_port
from tests.node.traces import cards
from tests.web.hooks.webhook_receiver import receiving

pytestmark = [pytest.mark.e2e, pytest.mark.ray, pytest.mark.slow, pytest.mark.timeout(1800)]

SHA = "8f73435b"
HACKED_BATCHES = 100
HACKED_SECONDS = 900.0
"""Half of these batches take a minute and a half on two quiet cores."""
MANY_BATCHES = 1000
"""A run that goes on until it is told to end."""
GOES_ON_SECONDS = 2 * START_SECONDS
"""For a driver to end and another one, or other lanes, to come up."""
ReaderWith = Callable[..., Reader]


def spec_of(rest: Rest, **sections: Any) -> dict[str, Any]:
    return {**rest.preset("shapes-quick"), **sections}


def hacking_spec(rest: Rest) -> dict[str, Any]:
    """Vivid pictures are rewarded, and the shapes in them dissolve within some 50 batches."""
    rewards = [{"name": "colorfulness"}, {"name": "shape_match", "watched": True}]
    spec = spec_of(rest, rewards=rewards, num_batches=HACKED_BATCHES)
    spec["prompts"] = {"inline": spec["prompts"]["inline"][:4]}
    # So slowly that a line can be fitted to it.
    spec["optimizer"]["learning_rate"] = 2.5e-4
    spec["batch"]["group_size"] = 24
    return spec


def run_named(rest: Rest, name: str) -> dict[str, Any]:
    """The newest run of that name."""
    found = [run for run in rest.results(f"/runs?search={name}") if run["name"] == name]
    return dict(rest.get(f"/runs/{found[0]['id']}"))


def nodes_of(rest: Rest, run: str) -> set[str]:
    return {lane["node"] for lane in rest.results("/lanes") if lane["run_id"] == run}


def test_a_merge_trains_until_the_reward_has_risen(rest: Rest, reader_with: ReaderWith) -> None:
    reader, page = reader_with("read", "run"), read_page("train_on_merge")
    reader.fill_in(page)
    (workflow,) = page.files.values()
    known = {"secrets.TANDEM_TOKEN": reader.environment["TANDEM_TOKEN"], "github.sha": SHA}
    variables, steps = workflow_job(workflow, known)
    reader.environment |= variables | {"TANDEM_URL": reader.environment["TANDEM_URL"]}
    # A reward that rises within a few batches: smooth pictures.
    spec = spec_of(rest, rewards=[{"name": "jpeg_compressibility"}], num_batches=12)
    spec["evaluation"] |= {"every_num_batches": 12, "num_samples_per_prompt": 4}
    (reader.folder / "training").mkdir()
    (reader.folder / "training" / "my_run.yaml").write_text(yaml.safe_dump(spec))

    assert "completed 12/12" in reader.end(reader.begin_step(steps["Train"]))
    reader.end(reader.begin_step(steps["The held-out reward has risen"]))
    reader.end(reader.begin_step(steps["Keep the LoRA and the report"]))
    assert load_file(reader.folder / "trained" / "pytorch_lora_weights.safetensors")
    assert SHA in (reader.folder / "trained" / "report.html").read_text()
    assert run_named(rest, f"main-{SHA}")["tags"] == ["ci"]


def test_the_best_point_of_a_night_is_downloaded(rest: Rest, reader_with: ReaderWith) -> None:
    reader, page = reader_with("read", "run"), read_page("nightly_sweep")
    reader.fill_in(page)
    (dry_run,) = page.pasted
    assert "4 runs on " in reader.paste(dry_run)
    assert rest.results("/sweeps") == []

    printed = reader.end(reader.begin_program(sys.executable, "my_night.py"))
    (listed,) = rest.results("/sweeps")
    sweep = rest.get(f"/sweeps/{listed['id']}")
    assert (sweep["state"], sweep["reason"]) == ("completed", "")
    best = max(point["value"] for point in sweep["points"] if point["value"] is not None)
    assert printed.startswith(f"{best:.3f} with {{")
    (file,) = reader.folder.glob("20*-*-*/*.safetensors")
    assert load_file(file)


def test_a_drained_node_is_empty_while_its_run_works_on(rest: Rest, reader_with: ReaderWith, other_node: str) -> None:
    run = rest.start_run("works on", spec_of(rest, num_batches=MANY_BATCHES))
    rest.run_when(run, lambda body: body["num_batches_done"] >= 1, "the first batch", START_SECONDS)
    (node,) = nodes_of(rest, run)
    reader, page = reader_with("read", "pool"), read_page("drain_before_maintenance")
    empty_by = (datetime.now() + timedelta(hours=1)).replace(microsecond=0)
    reader.fill_in(page, {"NODE": node, "EMPTY_BY": empty_by.isoformat()})
    drain, wait, give_back = page.pasted
    reader.paste(drain)
    reader.paste(wait)
    assert nodes_of(rest, run) == {"local", other_node} - {node}
    done = rest.get(f"/runs/{run}")["num_batches_done"]
    rest.run_when(run, lambda body: body["num_batches_done"] > done, "a batch elsewhere", GOES_ON_SECONDS)
    assert reader.paste(give_back) == f"{node} is available.\n"


def test_a_fork_goes_on_in_another_pool(rest: Rest, reader_with: ReaderWith, other_node: str) -> None:
    (other,) = (node for node in rest.results("/nodes") if node["name"] == other_node)
    rest.post("/pools", name="h100", match_labels={"model": "h100"}, order=10)
    rest.client.patch(f"/nodes/{other['id']}", json={"labels": {"model": "h100"}}).raise_for_status()
    run = rest.start_run("my_run", spec_of(rest, num_batches=MANY_BATCHES))
    rest.run_when(run, lambda body: body["num_batches_done"] >= 1, "the first batch", START_SECONDS)
    assert nodes_of(rest, run) == {"local"}

    reader, page = reader_with("read", "run"), read_page("resume_elsewhere")
    reader.fill_in(page)
    move, resume = page.pasted
    printed = reader.paste(move)
    stopped, fork = rest.get(f"/runs/{run}"), run_named(rest, "my_run on h100")
    begun = stopped["num_batches_done"]
    assert printed == f"my_run on h100 goes on from batch {begun}\n"
    rest.run_when(fork["id"], lambda body: body["num_batches_done"] > begun, "a batch of the fork", GOES_ON_SECONDS)
    assert nodes_of(rest, fork["id"]) == {other_node}

    reader.paste(resume)
    rest.run_when(run, lambda body: body["num_batches_done"] > begun, "a batch of the resumed run", GOES_ON_SECONDS)
    for each in (run, fork["id"]):
        rest.act(each, "stop")
        rest.run_when(each, lambda body: body["state"] == "stopped", "the end", START_SECONDS)


def test_a_suspicion_of_hacking_is_told_and_pauses_the_run(rest: Rest, reader_with: ReaderWith, project: str) -> None:
    reader, page, port = reader_with("read", "run", "admin"), read_page("notify_on_hacking"), free_port()
    with receiving() as chat:
        reader.fill_in(page, {"PROJECT": project, "CHAT": chat.url, "RECEIVER": f"http://127.0.0.1:{port}/"})
        for block in page.pasted:
            reader.paste(block)
        reader.begin_program(sys.executable, "my_receiver.py", str(port))
        run = rest.start_run("hacked", hacking_spec(rest))
        paused = rest.run_when(run, lambda body: body["state"] == "paused", "the pause", HACKED_SECONDS)
        wait_until(lambda: bool(chat.taken), "the message to the chat", START_SECONDS)
    assert "hacked" in json.loads(chat.taken[0][1])["text"]
    assert paused["num_batches_done"] < HACKED_BATCHES


def test_a_trained_lora_is_read_by_comfyuis_formula(rest: Rest, reader_with: ReaderWith) -> None:
    run = run_named(rest, "my_run")
    lora = run["spec"]["lora"]
    reader, page = reader_with("read"), read_page("export_to_comfyui")
    reader.fill_in(page)
    for block in page.pasted:
        reader.paste(block)
        (file,) = (reader.folder / "ComfyUI" / "models" / "loras").iterdir()
        assert file.name == f"my_run-v{run['num_batches_done']}.safetensors"
        stored = load_file(file)
        layers = {name.removesuffix(".alpha") for name in stored if name.endswith(".alpha")}
        assert layers and all(stored[f"{layer}.alpha"] == lora["alpha"] for layer in layers)
        assert all(stored[f"{layer}.lora_A.weight"].shape[0] == lora["rank"] for layer in layers)
        assert any(stored[f"{layer}.lora_B.weight"].any() for layer in layers), "it was trained"
        shutil.rmtree(reader.folder / "ComfyUI")


def test_a_spent_budget_holds_further_runs(rest: Rest, reader_with: ReaderWith, nodes: Nodes, project: str) -> None:
    reader, page = reader_with("read", "pool"), read_page("budget_guard")
    setting, guard = page.pasted
    reader.fill_in(page, {"PROJECT": project})
    assert " of 400.0000 GPU-hours" in reader.paste(setting)
    reader.paste(guard)

    # CPU lanes cost no GPU-hours.
    nodes.join("with-gpus", cards("L40S", 2))
    run = rest.start_run("spends", spec_of(rest))
    rest.run_when(run, lambda body: body["state"] == "completed", "the run on GPUs", START_SECONDS)
    spent = float(rest.get(f"/budgets/{project}")["spent"])
    assert spent > 0
    small = {
        "amount": round(spent / 2, 4),
        "unit": "gpu_hours",
        "period": "month",
        "warn_at": 0.8,
        "when_spent": "hold",
    }
    rest.client.put(f"/budgets/{project}", json=small).raise_for_status()
    assert reader.paste(guard, code=1) == "the budget is spent\n"
    held = rest.start_run("held", spec_of(rest))
    wait_until(lambda: "budget" in rest.get(f"/runs/{held}")["waiting"], "the reason of the wait", START_SECONDS)
    reader.paste(setting)
    rest.run_when(held, lambda body: body["state"] == "completed", "the run that was held", START_SECONDS)
