"""Extraction and summaries by a language model, held to what the source really says."""
