"""One agent, once for each input."""
