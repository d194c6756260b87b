"""Thin Ray actors over the plain engine classes: one actor is one lane.

They add what only a cluster needs (the lane's location, its clock, its log lines, large values as separate return
values) and no maths. The classes are plain Python; `worker.engine.control.cluster_lanes` makes them remote.
"""
