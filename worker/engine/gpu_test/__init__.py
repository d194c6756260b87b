"""The test that a GPU must pass before it takes work again, as a Ray job of its own; `sequence` has the diagram.

The steps are plain functions of a device, so that a test or a debugger calls them without Ray and web.
"""
