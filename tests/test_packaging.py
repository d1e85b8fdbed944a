"""What the package says of itself, and what a source distribution of it has."""

import re
import tomllib

from tests.documents import ROOT, read

PROJECT = tomllib.loads(read(ROOT / "pyproject.toml"))
ALWAYS = {"README.md", "LICENSE", "pyproject.toml", ".gitignore"}  # hatchling adds them


def test_a_source_distribution_has_what_its_tests_read():
    tests = "".join(map(read, (ROOT / "tests").rglob("*.py")))
    named = set(re.findall(r'ROOT / "([^"/{]+)', tests))
    have = {*ALWAYS, *PROJECT["tool"]["hatch"]["build"]["targets"]["sdist"]["include"]}
    made = {line.strip("/") for line in read(ROOT / ".gitignore").splitlines()}
    there = {name for name in named - made if (ROOT / name).exists()}
    assert len(there) > 10
    assert there - have == set()


def test_the_base_install_is_what_a_run_needs():
    """Pages, a ledger, a service, a cluster and fuzzing are extras, which bring what they need."""
    named = {re.split(r"[^\w-]", one)[0] for one in PROJECT["project"]["dependencies"]}
    assert named == {"numpy", "pexpect", "rich", "sgfmill"}


def test_each_python_that_is_listed_has_an_environment_and_a_job():
    listed = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["project"]["classifiers"]))
    jobs = re.findall(r'"(3\.\d+)"', read(ROOT / ".github" / "workflows" / "tests.yml"))
    (minors,) = re.findall(r"\[testenv:py3\{([\d,]+)\}\]", read(ROOT / "tox.ini"))
    page = read(ROOT / "docs" / "platforms.md")
    assert sorted(set(jobs)) == listed
    assert [f"3.{minor}" for minor in minors.split(",")] == listed
    assert all(f"`tox -e py{one.replace('.', '')}`" in page for one in listed[1:])
