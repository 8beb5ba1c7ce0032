"""Language models: OpenAI and whatever speaks its interface, Anthropic, and any command that answers in text."""
