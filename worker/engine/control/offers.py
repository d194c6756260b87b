"""Policy versions on offer: adapter bytes behind references, and who has read which of them back.

Invariant: a version counts as pulled by a lane only when that lane bound as many tensors as were published, at least
one, and reproduced their checksum from its live modules.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from ray import ObjectRef

from worker.contracts.events import PublishEvent
from worker.engine.actors.reports import AdapterFacts
from worker.engine.errors import SyncError
from worker.engine.telemetry.client import TelemetryClient
from worker.engine.types import PullReceipt


@dataclass(slots=True)
class _Offer:
    facts: AdapterFacts
    adapter: ObjectRef
    offered_at: float
    pulled_by: set[str] = field(default_factory=set)
    last_pulled_at: float = 0.0
    is_told: bool = False


class OfferTable:
    def __init__(self, client: TelemetryClient) -> None:
        self._client = client
        self._offers: dict[int, _Offer] = {}

    def adapter(self, policy_version: int) -> ObjectRef:
        return self._offers[policy_version].adapter

    def offer(self, facts: AdapterFacts, adapter: ObjectRef, *, began_at: float) -> None:
        """Put a version on offer; `began_at` is when its publishing began, in driver time."""
        self._offers[facts.policy_version] = _Offer(facts, adapter, began_at)

    def offer_again(self, facts: AdapterFacts, adapter: ObjectRef) -> None:
        """Put a version on offer that an earlier life of this run published and told."""
        self._offers[facts.policy_version] = _Offer(facts, adapter, 0.0, is_told=True)

    def pulled(self, lane: str, receipt: PullReceipt, *, generating_lanes: Collection[str], at: float) -> None:
        """Check what a lane read back; tells the `publish` event once every generating lane holds the version.

        Args:
            generating_lanes: those that generate by right; a lent lane is checked alike and awaited by nobody.

        Raises:
            SyncError: when nothing was bound, or something else than was published.
        """
        offer = self._offers[receipt.policy_version]
        facts = offer.facts
        if receipt.num_bound_tensors < 1 or receipt.num_bound_tensors != facts.num_tensors:
            raise SyncError(
                f"lane `{lane}` must bind all {facts.num_tensors} tensors of policy version {facts.policy_version}, "
                f"got {receipt.num_bound_tensors}: it would go on with other weights than were trained"
            )
        if receipt.sha256 != facts.sha256:
            raise SyncError(
                f"lane `{lane}` must read policy version {facts.policy_version} back as sha256 {facts.sha256}, "
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

    def _tell(self, offer: _Offer) -> None:
        if offer.is_told:
            return
        offer.is_told = True
        facts = offer.facts
        self._client.emit(
            PublishEvent,
            policy_version=facts.policy_version,
            num_bytes=facts.num_bytes,
            num_tensors=facts.num_tensors,
            sha256=facts.sha256,
            seconds=offer.last_pulled_at - offer.offered_at,
        )
