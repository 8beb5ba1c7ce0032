"""Hooks of coding agents: what an agent tells, as writes to the service, and what the team knows, as its answer.

Everything on the way of a hook is the standard library or this package's own light modules: a hook is a process that
an agent waits for.
"""
