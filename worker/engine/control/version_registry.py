"""The policy versions that lanes may pull: references to their weights, and the lanes that have pulled each.

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
    """Driver time when its publishing began, in seconds."""
    pulled_by: set[str] = field(default_factory=set)
    """The lanes that have pulled the version."""
    last_pulled_at: float = 0.0
    """Driver time of the last pull, in seconds."""
    num_direct: int = 0
    """Lanes that bound it from its broadcast."""
    num_missed: int = 0
    """Lanes that the broadcast has missed."""
    is_reported: bool = False
    """Whether its `publish` event was emitted."""


class VersionRegistry:
    """Stores published versions until `keep_only` drops them, checks pulls, and emits one `publish` event each."""

    def __init__(self, client: TelemetryClient) -> None:
        self._client = client
        self._entries: dict[int, _Entry] = {}
        """By policy version."""
        self._awaiting: defaultdict[int, list[Callable[[RemoteVersion], None]]] = defaultdict(list)
        """By policy version that is not published yet: the callbacks of `when_available`."""

    def __getitem__(self, policy_version: int) -> RemoteVersion:
        return self._entries[policy_version].version

    def add(self, version: RemoteVersion, *, began_at: float) -> None:
        """Make a version available to pull; `began_at` is the driver time when its publishing began."""
        self._entries[version.policy_version] = _Entry(version, began_at)
        for then in self._awaiting.pop(version.policy_version, []):
            then(version)

    def add_restored(self, version: RemoteVersion) -> None:
        """Make a version from a checkpoint available to pull; it was reported when it was first published."""
        self._entries[version.policy_version] = _Entry(version, 0.0, is_reported=True)

    def when_available(self, policy_version: int, then: Callable[[RemoteVersion], None]) -> None:
        """Call `then` with a version: now where it is available, else as soon as it is."""
        if policy_version in self._entries:
            then(self[policy_version])
        else:
            self._awaiting[policy_version].append(then)

    def pulled(self, lane: str, receipt: PullReceipt, *, generating_lanes: Collection[str], at: float) -> None:
        """Check a pull; emits the `publish` event once every lane of `generating_lanes` has pulled the version.

        Args:
            lane: the lane that pulled.
            receipt: what it read back from its live modules.
            generating_lanes: the lanes whose role is to generate. A lent lane is checked too, but not waited for.
            at: driver time of the pull, in seconds.

        Raises:
            SyncError: when nothing was bound, or something else than was published.
        """
        entry = self._entries[receipt.policy_version]
        version = entry.version
        if receipt.num_bound_tensors < 1 or receipt.num_bound_tensors != version.num_tensors:
            raise SyncError(
                f"lane `{lane}` must bind all {version.num_tensors} tensors of policy version "
                f"{version.policy_version}, got {receipt.num_bound_tensors}: it would generate with other weights than "
                "were trained"
            )
        if receipt.sha256 != version.sha256:
            raise SyncError(
                f"lane `{lane}` must read policy version {version.policy_version} back as sha256 {version.sha256}, "
                f"got {receipt.sha256}"
            )
        entry.pulled_by.add(lane)
        entry.last_pulled_at = at
        entry.num_direct += receipt.is_direct
        entry.num_missed += bool(receipt.missed)
        if entry.pulled_by.issuperset(generating_lanes):
            self._report(entry)

    def keep_only(self, policy_versions: Collection[int]) -> None:
        """Drop all other versions, so that Ray frees their weights.

        A dropped version that not every lane has pulled, because there were fewer fragments than lanes or a lane was
        given up, is reported now, with the time until the last pull.
        """
        for version in self._entries.keys() - policy_versions:
            entry = self._entries.pop(version)
            if entry.pulled_by:
                self._report(entry)

    def clear(self) -> None:
        """Drop all versions and callbacks, without events."""
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
            num_direct=entry.num_direct,
            num_missed=entry.num_missed,
        )
