"""The stages in order, each with its title and its budget; imports nothing, so that the supervisor starts at once.

The budgets of one card and `START_SECONDS` add up to no more than the nine minutes that the bench takes. `broadcasts`,
`ranks` and `spread` need two cards or a CPU: on one card they end at once.
"""

BUDGETS: dict[str, tuple[str, float]] = {
    "ceilings": ("products, copies, shared memory", 12.0),
    "gpu_tests": ("the tests that need a card", 60.0),
    "forward": ("forward passes of the main model", 100.0),
    "training": ("optimizer steps of the main model, and their memory", 105.0),
    "gate": ("how far replay is from rollout", 65.0),
    "versions": ("a policy version: copied, packed, bound", 15.0),
    "offload": ("switches, idle state and optimizer on the host", 20.0),
    "decoding": ("autoencoders", 15.0),
    "families": ("four blocks of further models", 30.0),
    "scorers": ("networks and statistics that score pictures", 25.0),
    "shared_card": ("a scorer in a second process beside forward passes", 15.0),
    "transport": ("trajectories from rollout to trainer", 10.0),
    "compiled": ("compiled blocks: replay against rollout, further models", 48.0),
    "broadcasts": ("a policy version from one card to all others", 40.0),
    "ranks": ("a gang of trainer ranks: ZeRO 0 to 3, full tuning, publishing", 150.0),
    "spread": ("one prediction over all cards of a lane", 120.0),
}
"""By name: title, and the seconds after which no further case of the stage begins. What compiles blocks comes last,
within `forward` and `training` and of all stages of one card, since it may outlast its budget. `gate` has 28 cases:
29 s of an H100 by the planner's rates, and an estimated 35 s of the host, where tiny models take 18 to 23 s of two
cores and FLUX.1 has 57 blocks."""
NEED_SEVERAL_CARDS = frozenset({"broadcasts", "ranks", "spread"})
"""`ranks` and `spread` start processes of their own, which import their libraries first: on two cores beside other work
(load 9) that took 95 s of the budget."""
START_SECONDS = 20.0
"""What a card's own machine is allowed to take to import its libraries: as long as one core takes."""
