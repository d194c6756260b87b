"""The versions that runs on Ray are compared with."""

from worker.contracts.run_spec import RunSpec
from worker.engine.local import LocalRun


def local_versions(spec: RunSpec, path: str, num_batches: int) -> dict[int, str]:
    """By number, the checksum of each version that an undisturbed run in one process trains."""
    local = LocalRun(spec, path)
    versions = {0: local.trainer.version(0).sha256}
    for number in range(1, num_batches + 1):
        local.train_batch()
        versions[number] = local.trainer.version(number).sha256
    return versions
