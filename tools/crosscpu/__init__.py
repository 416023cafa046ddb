"""What tools/cross_cpu.py and tests/test_golden.py are made of."""
