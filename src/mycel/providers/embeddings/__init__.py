"""Embedders: the built-in model, local ONNX folders, and any endpoint that speaks OpenAI's interface."""
