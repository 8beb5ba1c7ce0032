"""MCP: the tools, resources and prompts that models are given, over stdio and HTTP."""
