"""Programs that the tests drive and that no Python package brings along."""

from __future__ import annotations

import shutil

from deploy import debian

# The program, and the Debian package that has it.
PROGRAMS = {"kcat": "kcat"}


def main() -> None:
    for program, package in PROGRAMS.items():
        if shutil.which(program) is None and not debian.install(package):
            print(
                f"{program} is missing, and its tests will be skipped; on Debian and Ubuntu: sudo apt-get install {package}"
            )


if __name__ == "__main__":
    main()
