"""From a graph to queries: which there are, where their work is done, what their sinks take."""
