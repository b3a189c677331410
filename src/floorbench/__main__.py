"""``python -m floorbench``."""

from floorbench.cli.app import main

main()
