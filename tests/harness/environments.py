"""Courses with a Python environment of their own, small enough to be built without a network."""

from pathlib import Path

from tests.harness import small_class
from tests.harness.archives import write_zip

ENGINE = """\
import os, sys
import oldlib

for line in sys.stdin:
    words = line.split()
    number = words.pop(0) if words and words[0].isdigit() else ""
    answer = str(oldlib.twice(int(words[1]))) if words[0] == "twice" else ""
    print(f"={number} {answer}\\n", flush=True)
    if words[0] == "quit":
        break
"""
REQUIREMENTS = "--no-index\n--find-links wheels\noldlib==1.0\n"


def write_wheel(folder: Path, name: str = "oldlib", version: str = "1.0") -> None:
    """Write a package with one function, ``twice``, as a wheel."""
    folder.mkdir(parents=True, exist_ok=True)
    about = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": "def twice(n):\n    return 2 * n\n",
        f"{about}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{about}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{about}/RECORD"] = "".join(f"{file},,\n" for file in (*files, f"{about}/RECORD"))
    write_zip(folder / f"{name}-{version}-py3-none-any.whl", files.items())


def declare(course: Path, **keys: str) -> None:
    """Write keys, as TOML, into ``[engine]`` of the assignment ``counting`` of a course."""
    path = course / "counting" / "assignment.toml"
    lines = "".join(f"{key} = {value}\n" for key, value in keys.items())
    path.write_text(path.read_text().replace("[engine]\n", f"[engine]\n{lines}"))


def make(folder: Path, requirements: str = REQUIREMENTS) -> Path:
    """Write a course whose engines need ``oldlib``; return its folder."""
    course = small_class.make(folder, small_class.CLASS[:1])
    write_wheel(course / "counting" / "wheels")
    (course / "counting" / "requirements.txt").write_text(requirements)
    declare(course, packages='"requirements.txt"')
    hand_in(course, ENGINE)
    return course


def hand_in(course: Path, engine: str) -> None:
    """Let one student hand in an engine, alone in the class."""
    submissions = course / "submissions"
    for old in submissions.iterdir():
        old.unlink()
    files = {"engine.py": engine, "readme.txt": "Me.\n"}
    (submissions / "rightada_100_900_a1.tgz").write_bytes(small_class.archive(files))
