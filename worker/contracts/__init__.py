"""The words both sides share: what a user asks for, what a run reports, what a run is told.

Depends on the standard library and pydantic alone, so the web, the driver and every actor may import it.
"""
