"""The policy versions that lanes may pull: weights behind references, and which lane has read which of them back.

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
class _Entry:
    version: RemoteVersion
    publish_began_at: float
    """When its publishing began, in the driver's time."""
    pulled_by: set[str] = field(default_factory=set)
    last_pulled_at: float = 0.0
    """When the newest of `pulled_by` had read it back, in the driver's time."""
    is_reported: bool = False
    """The web has its `publish` event."""


class VersionRegistry:
    def __init__(self, client: TelemetryClient) -> None:
        self._client = client
        self._entries: dict[int, _Entry] = {}
        self._awaiting: defaultdict[int, list[Callable[[RemoteVersion], None]]] = defaultdict(list)

    def __getitem__(self, policy_version: int) -> RemoteVersion:
        return self._entries[policy_version].version

    def add(self, version: RemoteVersion, *, began_at: float) -> None:
        """Let lanes pull a version; `began_at` is when its publishing began, in the driver's time."""
        self._entries[version.policy_version] = _Entry(version, began_at)
        for then in self._awaiting.pop(version.policy_version, []):
            then(version)

    def add_restored(self, version: RemoteVersion) -> None:
        """Let lanes pull a version that came back with a checkpoint: it was reported when it was first published."""
        self._entries[version.policy_version] = _Entry(version, 0.0, is_reported=True)

    def when_available(self, policy_version: int, then: Callable[[RemoteVersion], None]) -> None:
        """Call `then` with a version: at once where lanes can pull it, else as soon as they can."""
        if policy_version in self._entries:
            then(self[policy_version])
        else:
            self._awaiting[policy_version].append(then)

    def pulled(self, lane: str, receipt: PullReceipt, *, generating_lanes: Collection[str], at: float) -> None:
        """Check what a lane read back; emits the `publish` event once every generating lane holds the version.

        Args:
            lane: the lane that pulled.
            receipt: what it read back from its live modules.
            generating_lanes: those that generate by right; a lent lane is checked alike and awaited by nobody.
            at: now, in the driver's time.

        Raises:
            SyncError: when nothing was bound, or something else than was published.
        """
        entry = self._entries[receipt.policy_version]
        version = entry.version
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
        entry.pulled_by.add(lane)
        entry.last_pulled_at = at
        if entry.pulled_by.issuperset(generating_lanes):
            self._report(entry)

    def keep_only(self, policy_versions: Collection[int]) -> None:
        """Let go of every other version's bytes.

        Where fewer fragments than lanes were left, or a lane was given up, not every lane asked for a version: how long
        it took those that did is reported now.
        """
        for version in self._entries.keys() - policy_versions:
            entry = self._entries.pop(version)
            if entry.pulled_by:
                self._report(entry)

    def clear(self) -> None:
        self._entries.clear()
        self._awaiting.clear()

    def _report(self, entry: _Entry) -> None:
        if entry.is_reported:
            return
        entry.is_reported = True
        version = entry.version
        self._client.emit(
            PublishEvent,
            policy_version=version.policy_version,
            num_bytes=version.num_bytes,
            num_tensors=version.num_tensors,
            sha256=version.sha256,
            seconds=entry.last_pulled_at - entry.publish_began_at,
        )
