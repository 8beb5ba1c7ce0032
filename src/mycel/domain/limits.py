"""How much one request may hold, beyond the fields of a memory."""

from __future__ import annotations

# What JSON readers keep as a whole number.
MAX_COUNT = 2**53
MAX_ITEMS = 1000
MAX_TEAMS = 10_000
MAX_REASON_BYTES = 2000
MAX_URI_BYTES = 1024
MAX_NOTED_BYTES = 2 * 1024
MAX_VIEW_QUERY_BYTES = 8 * 1024
MAX_SHARED_TEXT_BYTES = 1024 * 1024
MAX_BRIEFED = 50
LEAST_TOKEN_BUDGET, MOST_TOKEN_BUDGET = 100, 100_000
# With the longest id before it, the key of a profile fact is still a label.
MAX_PROFILE_KEY = 70
