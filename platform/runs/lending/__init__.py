"""Idle lanes lent to runs that gain by them, and taken back."""
