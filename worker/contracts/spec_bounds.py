"""The largest values that a `RunSpec` takes, each with its reason, and the types of number that several sections share.

They are far beyond what anybody trains with, so a value above one is a slip of the keyboard: it is refused where it is
written and not where memory, time or a column of the database ends. Invariant, held by a test: every number, text and
list of a spec is bounded.
"""

from typing import Annotated

from pydantic import Field

from worker.contracts.base import MAX_EXACT_INTEGER

MAX_SEED = MAX_EXACT_INTEGER
MAX_BATCHES = 1_000_000
"""Two months of the demo's batches of 5 s, and years of any other model's."""
MAX_DENOISING_STEPS = 200
"""Four times what the pipeline of any family recommends (50)."""
MAX_PROMPTS_PER_BATCH = 4096
"""Some hundred times the published batches (16 to 48 prompts)."""
MAX_GROUP_SIZE = 1024
"""Some forty times Flow-GRPO's groups of 24."""
MAX_EPOCHS_PER_BATCH = 100
"""Of so many passes the clip silences all but the first few."""
MAX_PAIRS_PER_GROUP = MAX_GROUP_SIZE * MAX_DENOISING_STEPS
"""A micro-batch never spans groups, so a larger one would have no effect."""
MAX_OPTIMIZER_STEPS = MAX_BATCHES
"""Of an interval or a start-up phase: a longer one would outlast the longest run."""
MAX_COEFFICIENT = 1e6
"""Of terms that are added in fp32, which keeps 7 digits: beside a larger one the others would be lost."""
MAX_GRAD_NORM = 1e12
"""People write 1e9 for no clipping; the squares of larger norms would leave fp32."""
MAX_INLINE_PROMPTS = 2000
"""A spec is stored with each run and sent with every answer about it; more prompts belong in a prompt set."""
MAX_REWARDS = 32
"""Each is a network or a service of its own, and a curve in every chart."""
MAX_LORA_TARGETS = 2000
"""A FLUX.1 transformer has 504 linear layers; a larger model's fit in as well."""
MAX_MODULE_NAME_CHARS = 200
"""The longest name of a layer in diffusers is a quarter of it."""
MAX_TRANSFORMER_BLOCKS = 1000
"""The largest transformer of diffusers has some 60."""
MAX_SEQUENCE_LENGTH = 1024
"""What Qwen-Image's pipeline takes at most, and no other family takes more."""
MAX_PICTURES_PER_CALL = 4096
"""Of a scorer: 256 times the default, more than the largest card holds."""

BatchCount = Annotated[int, Field(ge=1, le=MAX_BATCHES)]
DenoisingStepCount = Annotated[int, Field(ge=1, le=MAX_DENOISING_STEPS)]
OptimizerStepCount = Annotated[int, Field(ge=1, le=MAX_OPTIMIZER_STEPS)]
Coefficient = Annotated[float, Field(ge=0, le=MAX_COEFFICIENT)]
PositiveCoefficient = Annotated[float, Field(gt=0, le=MAX_COEFFICIENT)]
RewardValue = Annotated[float, Field(ge=-MAX_COEFFICIENT, le=MAX_COEFFICIENT)]
