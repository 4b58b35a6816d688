"""What golden.py records: one module per file of golden values."""
