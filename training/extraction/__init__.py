"""Fits the weights by which memories are drawn from talk without a language model."""
