"""Policy versions on offer: weights behind references, and who has read which of them back.

Invariant: a version counts as pulled by a lane only when that lane bound as many tensors as were published, at least
one, and reproduced their checksum from its live modules.
"""

from collections import defaultdict
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

from worker.contracts.events import PublishEvent
from worker.engine.actors.remote_version import RemoteVersion
from worker.engine.errors import SyncError
from worker.engine.telemetry.telemetry_client import TelemetryClient
from worker.engine.types import PullReceipt


@dataclass(slots=True)
class _RegisteredVersion:
    version: RemoteVersion
    offered_at: float
    pulled_by: set[str] = field(default_factory=set)
    last_pulled_at: float = 0.0
    is_told: bool = False


class VersionRegistry:
    def __init__(self, client: TelemetryClient) -> None:
        self._client = client
        self._offers: dict[int, _RegisteredVersion] = {}
        self._awaiting: defaultdict[int, list[Callable[[RemoteVersion], None]]] = defaultdict(list)

    def version(self, policy_version: int) -> RemoteVersion:
        return self._offers[policy_version].version

    def offer(self, version: RemoteVersion, *, began_at: float) -> None:
        """Put a version on offer; `began_at` is when its publishing began, in driver time."""
        self._offers[version.policy_version] = _RegisteredVersion(version, began_at)
        for then in self._awaiting.pop(version.policy_version, []):
            then(version)

    def offer_again(self, version: RemoteVersion) -> None:
        """Put a version on offer that an earlier life of this run published and told."""
        self._offers[version.policy_version] = _RegisteredVersion(version, 0.0, is_told=True)

    def once_offered(self, policy_version: int, then: Callable[[RemoteVersion], None]) -> None:
        """Call `then` with a version: at once where it is on offer, else as soon as it is."""
        if policy_version in self._offers:
            then(self.version(policy_version))
        else:
            self._awaiting[policy_version].append(then)

    def pulled(self, lane: str, receipt: PullReceipt, *, generating_lanes: Collection[str], at: float) -> None:
        """Check what a lane read back; tells the `publish` event once every generating lane holds the version.

        Args:
            generating_lanes: those that generate by right; a lent lane is checked alike and awaited by nobody.

        Raises:
            SyncError: when nothing was bound, or something else than was published.
        """
        offer = self._offers[receipt.policy_version]
        version = offer.version
        if receipt.num_bound_tensors < 1 or receipt.num_bound_tensors != version.num_tensors:
            raise SyncError(
                f"lane `{lane}` must bind all {version.num_tensors} tensors of policy version "
                f"{version.policy_version}, got {receipt.num_bound_tensors}: it would go on with other weights than "
                "were trained"
            )
        if receipt.sha256 != version.sha256:
            raise SyncError(
                f"lane `{lane}` must read policy version {version.policy_version} back as sha256 {version.sha256}, "
                f"got {receipt.sha256}"
            )
        offer.pulled_by.add(lane)
        offer.last_pulled_at = at
        if offer.pulled_by.issuperset(generating_lanes):
            self._tell(offer)

    def keep_only(self, policy_versions: Collection[int]) -> None:
        """Let go of every other version's bytes.

        Where fewer fragments than lanes were left, or a lane was given up, not every lane asked for a version: what it
        took those that did is told now.
        """
        for version in self._offers.keys() - policy_versions:
            offer = self._offers.pop(version)
            if offer.pulled_by:
                self._tell(offer)

    def clear(self) -> None:
        self._offers.clear()
        self._awaiting.clear()

    def _tell(self, offer: _RegisteredVersion) -> None:
        if offer.is_told:
            return
        offer.is_told = True
        version = offer.version
        self._client.emit(
            PublishEvent,
            policy_version=version.policy_version,
            num_bytes=version.num_bytes,
            num_tensors=version.num_tensors,
            sha256=version.sha256,
            seconds=offer.last_pulled_at - offer.offered_at,
        )
