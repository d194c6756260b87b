"""The stages in order, each with its title and its budget; imports nothing, so that the supervisor starts at once.

The budgets of one card add up to less than ten minutes. `ranks` and `broadcasts` need two cards or a
CPU.
"""

BUDGETS: dict[str, tuple[str, float]] = {
    "ceilings": ("products, copies, shared memory", 20.0),
    "gpu_tests": ("the tests that need a card", 90.0),
    "forward": ("forward passes of the main model", 125.0),
    "training": ("optimizer steps of the main model, and their memory", 125.0),
    "gate": ("how far replay is from rollout", 25.0),
    "versions": ("a policy version: copied, packed, bound", 25.0),
    "decoding": ("autoencoders", 20.0),
    "families": ("four blocks of further models", 50.0),
    "scorers": ("networks and statistics that score pictures", 35.0),
    "shared_card": ("a scorer in a second process beside forward passes", 25.0),
    "transport": ("trajectories from rollout to trainer", 15.0),
    "offload": ("switches, idle state and optimizer on the host", 40.0),
    "ranks": ("a gang of two: ZeRO 0 to 3, publishing", 90.0),
    "broadcasts": ("a policy version from one card to all others", 40.0),
}
"""By name: title, and the seconds after which no further case of the stage begins. What compiles operators comes late,
since it may outlast its budget."""
