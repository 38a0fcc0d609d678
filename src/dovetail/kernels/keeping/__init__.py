"""Operators that keep rows and are no joins: windows that fire, queues, memory."""
