"""Finding memories: text analysis, questions, snippets and ranking, all of it pure code."""
