"""The bodies of REST v1: what is accepted, and how rows are rendered. Answers that are made as plain JSON are typed
dictionaries instead, beside the function that makes them.
"""
