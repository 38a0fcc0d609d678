"""The engine for streams: our stateful operator inside Spark's micro-batches."""
