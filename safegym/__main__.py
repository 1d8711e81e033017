"""`python -m safegym`: the same as the `safegym` command."""

from safegym.cli import main

if __name__ == "__main__":
    main()
