"""Fixtures of all engine tests: a tiny random FLUX checkpoint, made once per session, and specs that run on it."""

import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest
import torch
from diffusers import AutoencoderKL, FlowMatchEulerDiscreteScheduler, FluxPipeline, FluxTransformer2DModel

from tests.engine.driving import LANE_RESOURCES, local_cluster
from tests.engine.telemetry.ingest_server import Ingest, start_ingest
from worker.contracts.node_reports import GPU_TRACE_VARIABLE
from worker.contracts.run_spec import RunSpec
from worker.fixtures.shapes.caption_encoders import (
    EMBEDDING_DIM,
    build_clip_encoder,
    build_clip_tokenizer,
    build_t5_encoder,
    build_t5_tokenizer,
)

PROMPTS = ("a red square", "a blue circle")

SpecMaker = Callable[..., RunSpec]


def build_tiny_pipeline() -> FluxPipeline:
    """A FLUX pipeline with random weights, whose 32x32 pictures are 16 tokens of 16 channels."""
    torch.manual_seed(0)
    clip_tokenizer, t5_tokenizer = build_clip_tokenizer(), build_t5_tokenizer()
    transformer = FluxTransformer2DModel(
        patch_size=1,
        in_channels=16,
        num_layers=1,
        num_single_layers=1,
        attention_head_dim=16,
        num_attention_heads=2,
        joint_attention_dim=EMBEDDING_DIM,
        pooled_projection_dim=EMBEDDING_DIM,
        guidance_embeds=False,
        axes_dims_rope=(4, 6, 6),
    )
    vae = AutoencoderKL(
        down_block_types=("DownEncoderBlock2D",) * 3,
        up_block_types=("UpDecoderBlock2D",) * 3,
        block_out_channels=(8, 8, 8),
        latent_channels=4,
        norm_num_groups=4,
        layers_per_block=1,
        sample_size=32,
        mid_block_add_attention=False,
        scaling_factor=1.1,
        shift_factor=0.1,
    )
    return FluxPipeline(
        scheduler=FlowMatchEulerDiscreteScheduler(),
        vae=vae,
        text_encoder=build_clip_encoder(clip_tokenizer),
        tokenizer=clip_tokenizer,
        text_encoder_2=build_t5_encoder(t5_tokenizer),
        tokenizer_2=t5_tokenizer,
        transformer=transformer,
    )


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("models") / "tiny"
    build_tiny_pipeline().save_pretrained(folder)
    return str(folder)


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """`base` with each section of `changes` merged into its own."""
    result = dict(base)
    for name, value in changes.items():
        result[name] = {**result[name], **value} if isinstance(value, dict) and name in result else value
    return result


@pytest.fixture(scope="session")
def make_spec() -> SpecMaker:
    """Makes specs of 2 prompts x 4 members and 3 stochastic denoising steps; keywords override sections."""

    def make(**sections: Any) -> RunSpec:
        base: dict[str, Any] = {
            "prompts": {"inline": PROMPTS},
            "rewards": [{"name": "colorfulness"}],
            "lora": {"rank": 4, "alpha": 8.0},
            "optimizer": {"learning_rate": 1e-3},
            "sampling": {"num_denoising_steps": 4, "num_eval_denoising_steps": 4},
            "batch": {"num_prompts_per_batch": 2, "group_size": 4, "micro_batch_size": 6},
            "algorithm": {"clip_range": 0.2},
            "seed": 3,
        }
        return RunSpec.model_validate(merged(base, sections))

    return make


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def process_group() -> Iterator[None]:
    """Makes this process the only rank of a torch.distributed group; `tests/gpu` imports the fixture too."""
    from worker.engine.trainer.zero.process_group import destroy_process_group, init_process_group

    if torch.distributed.is_initialized():
        yield
        return
    init_process_group(0, 1, "127.0.0.1", free_port())
    yield
    destroy_process_group()


@pytest.fixture(scope="session")
def ray_address() -> Iterator[str]:
    """The address of a local Ray cluster for all tests of the session. Its processes take GPUs for recorded ones, so
    that a lane that is granted some computes on the CPU."""
    with ExitStack() as stack:
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv(GPU_TRACE_VARIABLE, "none is read")
            cluster = local_cluster(num_cpus=8, resources=dict.fromkeys(LANE_RESOURCES.values(), 1.0))
            address = stack.enter_context(cluster)
        yield address


@pytest.fixture
def ingest() -> Iterator[Ingest]:
    ingest, server = start_ingest()
    yield ingest
    server.shutdown()
    server.server_close()
