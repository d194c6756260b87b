"""The types that platform and worker share: what a user asks for, what a run reports, and the commands it receives.

Depends on the standard library and pydantic alone, so the web, the driver and every actor may import it.
"""
