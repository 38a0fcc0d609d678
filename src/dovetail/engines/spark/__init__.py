"""What the Spark engines share: literal rows, moments, the rules of expressions."""
