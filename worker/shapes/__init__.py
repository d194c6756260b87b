"""The shapes world: drawn pictures, a tiny real FLUX checkpoint that paints them, and a judge of the result.

`drawing` and `captions` need numpy only, so that rewards may use them without loading torch; everything that
trains or loads a network lives in its own file. Nothing here knows about runs, lanes or reinforcement learning.
"""
