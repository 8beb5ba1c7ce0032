"""Embedders: local ONNX folders, and any endpoint that speaks OpenAI's interface."""
