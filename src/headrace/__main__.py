"""`python -m headrace` is the `headrace` program."""

import os
import sys

if __name__ == "__main__":
    # `python -m` looks into the working folder first: what lies there is not ours.
    if not sys.flags.safe_path and sys.path[0] in ("", os.getcwd()):
        del sys.path[0]

    from headrace.cli import main

    main()
