"""What tasks stage for sinks, and the record that commits it."""
