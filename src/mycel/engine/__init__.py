"""From captured material to memories: reading, extracting, judging, summarising. Stores nothing by itself."""
