"""`python -m headrace.server`: a server process."""

from headrace.server.process import main

if __name__ == "__main__":
    main()
