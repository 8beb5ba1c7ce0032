"""Language models: OpenAI and whatever speaks its interface, and Anthropic."""
