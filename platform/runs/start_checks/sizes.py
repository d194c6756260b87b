"""Numbers of bytes in words."""


def size_text(num_bytes: float) -> str:
    """`9.13 MB`, `75 GB`: three digits, powers of a thousand, as disks and cards are sold."""
    unit, length = ("GB", 1e9) if num_bytes >= 1e9 else ("MB", 1e6)
    return f"{num_bytes / length:.3g} {unit}"
