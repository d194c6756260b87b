"""The emulated executor: real Ray actors, messages and publishes, whose work is a timed wait from a cost table.

Controller, scheduler, pending calls and timeline are those of real runs, so emulated runs test them. No torch is
imported, so that dozens of lanes fit on a small machine.
"""
