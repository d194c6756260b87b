"""Keys of what lanes have loaded, by which a later attempt of the run knows whether it can go on with them."""

import hashlib
import json

import ray

from worker.contracts.ingest import BootstrapAnswer
from worker.contracts.lanes import LaneGrant
from worker.contracts.names import LaneRole
from worker.contracts.run_spec import RunSpec
from worker.contracts.scorer_access import ScorerAccess


def uploaded_code() -> str:
    """The addresses of the code that this job has uploaded, which Ray names by its content; empty in a process that
    imports from a checkout."""
    uploads = ray.get_runtime_context().runtime_env.get("py_modules") or ()
    return " ".join(map(str, uploads))


def generating_key(spec: RunSpec, base_model_path: str) -> str:
    """The key of a rollout lane."""
    return _digest(LaneRole.ROLLOUT, spec.model_dump_json(), base_model_path)


def training_key(spec: RunSpec, base_model_path: str, rank: int, world_size: int) -> str:
    """The key of a trainer rank."""
    return _digest(LaneRole.TRAINER, spec.model_dump_json(), base_model_path, rank, world_size)


def scoring_key(spec: RunSpec, access: ScorerAccess) -> str:
    """The key of a reward lane."""
    return _digest(LaneRole.REWARD, spec.model_dump_json(), access.model_dump_json())


def expected_keys(answer: BootstrapAnswer) -> dict[str, str]:
    """By lane of the grant, the key of what it loads in this attempt."""
    trainers = [grant.lane for grant in answer.lanes if grant.role is LaneRole.TRAINER]
    return {grant.lane: _expected(answer, grant, trainers) for grant in answer.lanes}


def _expected(answer: BootstrapAnswer, grant: LaneGrant, trainers: list[str]) -> str:
    match grant.role:
        case LaneRole.ROLLOUT:
            return generating_key(answer.spec, answer.base_model_path)
        case LaneRole.TRAINER:
            return training_key(answer.spec, answer.base_model_path, trainers.index(grant.lane), len(trainers))
        case LaneRole.REWARD:
            return scoring_key(answer.spec, answer.scorer_access)


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()
