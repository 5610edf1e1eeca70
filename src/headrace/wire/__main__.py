"""`python -m headrace.wire`: a broker process."""

from headrace.wire.process import main

if __name__ == "__main__":
    main()
