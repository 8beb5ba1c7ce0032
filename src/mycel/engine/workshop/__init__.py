"""Where the heavy steps are done: in this process, or in a child that keeps it responsive."""
