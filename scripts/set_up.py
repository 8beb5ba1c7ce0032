"""Make an environment and fill it, saying what happens: `python3 scripts/set_up.py run|dev|docs`.

`run` installs Mycel into `.venv` with what the service needs, `dev` with what the tests and benchmarks need as well.
`docs` makes `.venv-docs`, which holds the generator of the documentation and no Mycel. Nothing but the standard
library is used, and the syntax is old enough for an outdated Python to read that it is outdated.
"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REQUIREMENTS = {"run": "requirements/run.txt", "dev": "requirements/dev.txt", "docs": "requirements/docs.txt"}
BUILD_REQUIREMENTS = "requirements/build.txt"


def say(text: str, end: str = "\n") -> None:
    print(text, end=end, flush=True)  # noqa: T201


def check_python() -> None:
    """Exit with a sentence about what is missing where this Python cannot run Mycel."""
    if sys.version_info < (3, 11):  # noqa: UP036
        sys.exit("Mycel needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ...")
    try:
        import ensurepip  # noqa: F401
        import venv  # noqa: F401
    except ImportError:
        sys.exit(sys.executable + " cannot make virtual environments; on Debian and Ubuntu: apt install python3-venv")


def install(pip: list, requirements: str) -> None:
    """Install the pinned packages by their hashes and name each as it comes; pip's own words are shown if it fails."""
    command = [*pip, "install", "--require-hashes", "--progress-bar", "off", "-r", requirements]
    is_terminal = sys.stdout.isatty()
    words, fetched = [], 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        for line in process.stdout or ():
            words.append(line)
            if line.startswith("Collecting "):
                fetched += 1
                name = line.split()[1].partition("=")[0]
                if is_terminal:
                    say(f"\r\033[K  {fetched} packages found, now {name}", end="")
                elif fetched % 20 == 0:
                    say(f"  {fetched} packages found")
            elif line.startswith("Installing collected packages"):
                say(("\r\033[K" if is_terminal else "") + f"  {fetched} packages found, unpacking them")
    if process.returncode:
        sys.exit("".join(words) + f"The packages of {requirements} could not be installed; pip says why above.")


def install_mycel(pip: list) -> None:
    """Install the folder itself, as it is; what that is done with lies apart and goes again."""
    with tempfile.TemporaryDirectory() as tools:
        subprocess.check_call(
            [*pip, "install", "--quiet", "--target", tools, "--require-hashes", "-r", BUILD_REQUIREMENTS]
        )
        command = [*pip, "install", "--quiet", "--no-deps", "--no-build-isolation", "-e", "."]
        subprocess.check_call(command, env={**os.environ, "PYTHONPATH": tools})


def main(kind: str) -> None:
    check_python()
    began = time.monotonic()
    folder, content = (".venv-docs", "the documentation") if kind == "docs" else (".venv", "Mycel")
    say(f"Setting up {content} in {folder}, with Python {sys.version.split()[0]}; this happens once.")
    subprocess.check_call([sys.executable, "-m", "venv", folder])
    pip = [str(Path(folder, "bin", "python")), "-m", "pip", "--disable-pip-version-check"]
    install(pip, REQUIREMENTS[kind])
    # Older Pythons put setuptools into every environment, and an older clone installed itself as mycel.
    subprocess.check_call([*pip, "-qq", "uninstall", "-y", "setuptools", "mycel"])
    if kind != "docs":
        install_mycel(pip)
    say(f"Set up in {time.monotonic() - began:.0f} s.")


if __name__ == "__main__":
    main(sys.argv[1])
