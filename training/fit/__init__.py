"""Fits what judges vectors (background, fusion, relevance) to an embedding model, by cross-validation over sets."""
