"""Install the Debian packages that some tests need, when we may (root and apt).

Otherwise name what is missing and go on: the tests that need it are then skipped by name.
"""

import os
import shutil
import subprocess
from glob import glob

# program -> Debian package
PACKAGES = {
    "gnugo": "gnugo",
    "chromium-headless-shell": "chromium-headless-shell",
    "cc": "gcc libc6-dev",
    "bwrap": "bubblewrap",
    "make": "make",
    "cmake": "cmake",
    "javac": "default-jdk-headless",
    "debootstrap": "debootstrap",
    "git": "git",
    "gawk": "gawk",
    "zsh": "zsh",
    "fish": "fish",
    "groff": "groff-base",
    "mandoc": "mandoc",
    "initdb": "postgresql",
    "tc": "iproute2",
}
# Debian keeps the programs of PostgreSQL, of each version, where no PATH leads.
SEARCH_PATH = os.pathsep.join(
    [os.environ.get("PATH", ""), "/usr/games", "/usr/sbin", *glob("/usr/lib/postgresql/*/bin")]
)


def missing() -> list[str]:
    """Return the Debian packages whose program is not installed."""
    absent = [PACKAGES[name] for name in PACKAGES if not shutil.which(name, path=SEARCH_PATH)]
    return " ".join(absent).split()


def install(packages: list[str]) -> None:
    """Install packages quietly; a failure is said, and decides nothing."""
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    for command in (["update"], ["install", "-y", "--no-install-recommends", *packages]):
        done = subprocess.run(
            ["apt-get", "-qq", *command],
            check=False,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        if done.returncode:
            print(f"apt-get {command[0]}: {done.stderr.strip()}")


def main() -> None:
    """Install what is missing and may be installed; say what stays missing."""
    packages = missing()
    if packages and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"installing {' '.join(packages)} for the tests")
        install(packages)
        packages = missing()
    if packages:
        print(f"not installed, their tests are skipped: {' '.join(packages)}")


if __name__ == "__main__":
    main()
