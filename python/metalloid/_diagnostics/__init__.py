"""What a program can see of its kernels while they run: traces, captures, the lines that they print."""
