"""Make a virtual environment with this project installed in it: `python3 deploy/virtual_environment.py .venv --extra dev`.

It runs before anything is installed, so it uses the standard library alone.
"""

import argparse
import importlib.util
import os
import shutil
import subprocess
import sys
from pathlib import Path

PYTHON_MINIMUM = (3, 11)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make a virtual environment and install the project in it.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--extra", action="append", default=[], help="an extra of pyproject.toml to install too")
    arguments = parser.parse_args()
    if sys.version_info < PYTHON_MINIMUM:
        wanted = ".".join(map(str, PYTHON_MINIMUM))
        sys.exit(
            f"Python {wanted} or newer is needed, and this is {sys.version.split()[0]} ({sys.executable}). "
            f"Name a newer one: make PYTHON=python{wanted} …"
        )
    python = arguments.folder / "bin" / "python"
    # Without pip it is the rest of an attempt that failed.
    if not (python.exists() and (arguments.folder / "bin" / "pip").exists()):
        _require_ensurepip()
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(arguments.folder)], check=True)
    project = Path(__file__).resolve().parent.parent
    target = f"{project}[{','.join(arguments.extra)}]" if arguments.extra else str(project)
    # "compat" puts the project's folder on the path. The default is a finder that every start of Python would load and run.
    install = ["-m", "pip", "install", "--quiet", "--config-settings", "editable_mode=compat", "--editable", target]
    sys.stderr.write(f"installing into {arguments.folder}; the first time this takes a minute\n")
    if subprocess.run([str(python), *install], check=False).returncode:
        sys.exit("The installation failed; pip's message stands above. Most often the package index is out of reach.")
    # Some machines tell Python not to write bytecode, and then each start would compile everything again.
    packages = [str(folder.parent) for folder in sorted(project.glob("*/py.typed"))]
    subprocess.run([str(python), "-m", "compileall", "-q", *packages], check=False)


def _require_ensurepip() -> None:
    """Debian ships Python without the module that puts pip into a new environment."""
    if importlib.util.find_spec("ensurepip") is not None:
        return
    package = f"python{sys.version_info.major}.{sys.version_info.minor}-venv"
    advice = f"This Python cannot make virtual environments. On Debian and Ubuntu: sudo apt-get install {package}"
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        sys.exit(advice)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "-qq", "update"], env=environment, check=False)
    wanted = ["install", "--yes", "--no-install-recommends", package]
    if subprocess.run(["apt-get", "-qq", *wanted], env=environment, check=False).returncode:
        sys.exit(advice)


if __name__ == "__main__":
    main()
