"""REST v1: parse, call a service or a selector, render. No rule of its own lives here."""
