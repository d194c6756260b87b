"""The muscle: diffusers models, DeepSpeed trainers, rewards, algorithms, publishing, and the Ray actors around them.

Maths and trainers are plain classes that run in one process; `actors/` only wraps them; `controller.py` is the loop.
"""
