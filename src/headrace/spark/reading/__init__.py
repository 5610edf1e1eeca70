"""Rows of topics and tables, as tasks and the driver read them."""
