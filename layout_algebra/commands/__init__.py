"""What the commands do: one module for each, with `main(arguments)`, which gives the exit code."""
