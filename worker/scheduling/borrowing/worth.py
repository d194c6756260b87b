"""What a borrowed lane is worth: what the run gains while the lane is likely to stay, less what the switch costs."""

from collections.abc import Mapping
from dataclasses import dataclass

MIN_GAIN = 0.02
"""The share of a batch's seconds that a loan must save at least, as a change of trainer lanes must: simulations of two
ways of working on the same costs are compared to well within 1 %, so 2 % is no chance."""
ASSUMED_STAY_SECONDS = 600.0
"""How long a lane is expected to stay idle where nothing is known: runs of minutes to hours begin and end about so
often in a pool that several people use. It counts as one loan among those that were measured."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoanTerms:
    """What a loan is expected to last and to cost, in seconds."""

    stay: float
    """From the grant until the lane is given back."""
    join: float
    """From the grant until the lane works: its process starts, loads the model and pulls a version."""
    leave: float
    """From the notice until the lane is given back; a fragment that it cannot finish is lost time."""


def expected_stay(lent_seconds: float, num_reclaimed: int, *, seconds_left: float) -> float:
    """Seconds that a loan is expected to last: the time lent by each reclaim so far, with one assumed loan among them,
    and no longer than the borrower works.

    Reclaims come at any time, so the mean time to the next is the time lent ÷ the number of reclaims (the estimate of
    an exponential distribution's mean with a prior of one event).

    Args:
        lent_seconds: of all loans in a recent window.
        num_reclaimed: how many of these were asked back.
        seconds_left: what is left of the borrowing run.
    """
    return min((lent_seconds + ASSUMED_STAY_SECONDS) / (num_reclaimed + 1), seconds_left)


def net_gain_seconds(seconds: Mapping[int, float], terms: LoanTerms) -> dict[int, float]:
    """By number of lanes: seconds by which the run gets ahead during their stay, less the seconds in which they switch.

    In the time that the lanes work, t, the run trains what would have taken t × before ÷ after without them. Each lane
    pays for its own switch, so a further lane must gain more than that. Numbers that save less than `MIN_GAIN` of a
    batch gain nothing.

    Args:
        seconds: predicted seconds of a batch, by the number of lanes that join; 0 stands for the run as it is.
    """
    before, switch = seconds[0], terms.join + terms.leave
    working = max(0.0, terms.stay - switch)
    return {
        number: working * (before / after - 1) - number * switch
        for number, after in seconds.items()
        if number and after > 0 and before - after >= MIN_GAIN * before
    }
