"""The emulated executor: real Ray actors, messages and publishes; their work is a timed wait from a cost table.

Controller, scheduler, call table and timeline are the real ones: what is tested here is what runs. No torch, so that
dozens of lanes fit on a small machine.
"""
