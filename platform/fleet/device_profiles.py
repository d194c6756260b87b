"""The hardware profile of a device of the pool: a known card's, or what is known of the card itself."""

from collections.abc import Iterable

from fleet.models import Gpu
from worker.contracts.device_names import divided, known_profile, several
from worker.contracts.node_reports import GpuIdentity
from worker.scheduling.profiles.described_cards import card_name


def profile_name(device: str) -> str | None:
    """The name of the planner's profile for a lane's device, by its driver's name.

    A card that the planner does not know is described by what its node reports: its memory, and the rates that were
    measured on it. `None` where no node has reported such a card yet.
    """
    number, card = divided(device)
    found = _profile_of_one(card)
    return None if found is None else several(found, number)


def profiles_of(devices: Iterable[str]) -> dict[str, str]:
    """The planner's profile of each of these devices; empty where one has none: a part of a pool cannot be compared
    with the rest, so that the planner then takes all lanes to be alike."""
    found = {device: profile_name(device) for device in set(devices)}
    known = {device: profile for device, profile in found.items() if profile is not None}
    return known if len(known) == len(found) else {}


def _profile_of_one(device: str) -> str | None:
    known = known_profile(device)
    if known is not None or not device:
        return known
    reported = (
        Gpu.objects.filter(accelerator=device).exclude(identity={}).order_by("pk").values_list("identity", flat=True)
    )
    cards = [GpuIdentity.model_validate(identity) for identity in reported]
    memory = min((card.memory_bytes for card in cards if card.memory_bytes), default=None)
    if memory is None:
        return None
    # Cards of one model differ by a per cent; the first that was measured stands for all.
    return card_name(memory, next((card.figures for card in cards if card.figures is not None), None))
