"""The rules themselves: cues that say outright what a sentence is."""
