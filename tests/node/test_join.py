"""What `python -m worker.node join` starts, and what it refuses."""

import json
import sys
from pathlib import Path

import pytest

from tests.node.traces import cards
from worker.node.join import environment, join, ray_command

HEAD = "10.0.0.1:6379"


def flags(command: list[str]) -> dict[str, str]:
    return dict(flag[2:].split("=", 1) for flag in command if flag.startswith("--") and "=" in flag)


def test_each_gpu_is_a_resource_and_the_node_names_itself() -> None:
    given = flags(ray_command(HEAD, "gpu0", cards("H100", 2), num_cpu_lanes=6))
    assert given["address"] == HEAD
    assert json.loads(given["resources"]) == {"tandem-gpu0-gpu-0": 1, "tandem-gpu0-gpu-1": 1}
    assert given["labels"] == "tandem/node=gpu0,tandem/cpu-lanes=6"
    assert given["num-gpus"] == "0", "Ray must give the GPUs to nobody else"


def test_slices_share_the_resource_of_their_card() -> None:
    whole = cards("H100", 1)[0]
    slices = [
        whole.model_copy(
            update={"identity": whole.identity.model_copy(update={"uuid": f"MIG-{n}", "parent_uuid": "GPU-x"})}
        )
        for n in range(7)
    ]
    assert json.loads(flags(ray_command(HEAD, "gpu0", slices, 0))["resources"]) == {"tandem-gpu0-gpu-0": 7}


def test_ray_sees_the_token_and_none_of_the_webs_secrets() -> None:
    inherited = {"RAY_AUTH_TOKEN": "t", "PATH": "/bin", "DATABASE_URL": "postgres://", "SECRET_KEY": "s"}
    given = environment(inherited)
    assert (given["RAY_AUTH_MODE"], given["RAY_AUTH_TOKEN"]) == ("token", "t")
    assert not {"DATABASE_URL", "SECRET_KEY"} & given.keys()
    assert "RAY_AUTH_MODE" not in environment({})


def test_jobs_on_the_node_begin_with_this_interpreter_though_its_environment_is_not_activated() -> None:
    folder = str(Path(sys.executable).parent)
    assert environment({"PATH": "/bin"})["PATH"] == f"{folder}:/bin"
    assert environment({})["PATH"] == folder, "an empty part would mean the working folder"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "head"),
        (["10.0.0.1"], "HOST:PORT"),
        ([":6379"], "HOST:PORT"),
        ([HEAD, "--num-cpu-lanes", "-1"], "number ≥ 0"),
    ],
)
def test_wrong_arguments_are_refused_with_what_to_do(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        join(arguments)
    assert said in capsys.readouterr().err
