"""Install the Debian packages that some tests need, when we may (root and apt).

``python tests/system_packages.py [rest|slow]``: also those that only the rest of the tests needs,
or the slow tier.
Otherwise name what is missing and go on: the tests that need it are then skipped by name.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from glob import glob

# program -> Debian package
PACKAGES = {
    "gnugo": "gnugo",
    "cc": "gcc libc6-dev",
    "bwrap": "bubblewrap",
    "make": "make",
    "cmake": "cmake",
    "git": "git",
    "gawk": "gawk",
    "zsh": "zsh",
    "fish": "fish",
    "groff": "groff-base",
    "mandoc": "mandoc",
}
REST_PACKAGES = {
    "chromium-headless-shell": "chromium-headless-shell",
    "javac": "default-jdk-headless",
    "debootstrap": "debootstrap",
    "initdb": "postgresql",
    "tc": "iproute2",
    "nft": "nftables",
}
SLOW_PACKAGES = {
    "sshd": "openssh-server openssh-sftp-server",
    "ssh": "openssh-client",
    "sbatch": "slurm-client",
    "slurmctld": "slurm-wlm",
    "munged": "munge",
}
# Debian keeps the programs of PostgreSQL, of each version, where no PATH leads.
SEARCH_PATH = os.pathsep.join(
    [os.environ.get("PATH", ""), "/usr/games", "/usr/sbin", *glob("/usr/lib/postgresql/*/bin")]
)


def missing(wanted: Mapping[str, str] = PACKAGES) -> list[str]:
    """Return the Debian packages whose program is not installed."""
    absent = [wanted[name] for name in wanted if not shutil.which(name, path=SEARCH_PATH)]
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


def main(words: list[str]) -> None:
    """Install what is missing and may be installed; say what stays missing."""
    wanted = PACKAGES | (REST_PACKAGES if words else {})
    wanted |= SLOW_PACKAGES if "slow" in words else {}
    packages = missing(wanted)
    if packages and os.geteuid() == 0 and shutil.which("apt-get"):
        print(f"installing {' '.join(packages)} for the tests")
        install(packages)
        packages = missing(wanted)
    if packages:
        print(f"not installed, their tests are skipped: {' '.join(packages)}")


if __name__ == "__main__":
    main(sys.argv[1:])
