"""python -m coterie."""

from .cli import main

main()
