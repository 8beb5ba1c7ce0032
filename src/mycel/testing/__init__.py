"""Conformance suites and test doubles, shipped so that authors of stores and providers can use them."""
