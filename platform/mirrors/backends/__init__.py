"""What writes to each tool, in a process of its own that sees neither Django nor the database.

    mirrors.sessions ── job on stdin ─► python -m mirrors.backends ─► the tool
                     ◄── answer.json ──

Invariant: an answer is written after the tool has taken everything of the job; until then nothing counts as done.
"""
