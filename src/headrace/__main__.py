"""`python -m headrace` is the `headrace` program."""

from headrace.cli import main

if __name__ == "__main__":
    main()
