"""What an hour of a pool's lanes costs, for estimates made before lanes are allocated. A use keeps its own price."""

from collections import defaultdict
from decimal import Decimal
from statistics import mean

from django.db.models import F
from django.db.models.functions import Coalesce

from fleet.models import Gpu
from worker.contracts.device_names import several


def mean_lane_prices(pool: str) -> dict[str, Decimal]:
    """The mean price of an hour of a lane of the pool by device, of the lanes that have one, in whatever currency the
    installation counts; devices without a price are left out."""
    price = Coalesce(F("price_per_gpu_hour"), F("lane__node__price_per_gpu_hour"))
    priced = Gpu.objects.filter(lane__pool=pool).exclude(lane=None).annotate(price=price).exclude(price=None)
    by_lane: dict[int, list[tuple[str, Decimal]]] = defaultdict(list)
    for lane, device, of_gpu in priced.values_list("lane", "accelerator", "price"):
        by_lane[lane].append((device, of_gpu))
    by_device: dict[str, list[Decimal]] = defaultdict(list)
    for gpus in by_lane.values():
        by_device[several(gpus[0][0], len(gpus))].append(sum((price for _, price in gpus), Decimal(0)))
    return {device: mean(prices) for device, prices in by_device.items()}
