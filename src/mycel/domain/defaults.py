"""The defaults of settings that hooks read as well, which start without the library code of `mycel.settings`."""

DAEMON = "auto"
LOG_LEVEL = "info"
PERSONAL_MEMORY_FOLDER = "/workspace/personal/memory"
SHARED_MEMORY_FOLDER = "/workspace/shared/memory"
HOOKS = "on"
HOOK_RELEVANCE = 0.3
HOOK_RECENT = "new"
HOOK_SECONDS = 1.0
HOOK_START_SECONDS = 8.0
