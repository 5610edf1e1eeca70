"""The Spark session and the processes around it: Java, its home, warm workers."""
