"""One driver after the other: begun, launched, watched, recovered."""
