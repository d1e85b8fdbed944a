"""The reference pages, which the build makes: everything of the code is in them."""

import re
import tomllib

import pytest

import harness
import oracle
import oracle.cli
from docs import reference_pages
from harness.assignments import assignment
from harness.cli import man
from harness.service.app import ROUTES
from tests.documents import ROOT, read
from tests.harness.sandbox_mutants import MUTANTS

# Keys at the top that are not tables, and one whose keys depend on the adapter.
NOT_TABLES = {"title", "specification", "extends", "does_not_run", "translate", "adapter"}


@pytest.fixture(scope="module")
def pages():
    return {name: make() for name, make in reference_pages.PAGES.items()}


def test_each_page_has_a_place_that_says_where_else_the_same_is_found(pages):
    places = {path.stem: read(path) for path in (ROOT / "docs" / "reference").glob("*.md")}
    assert places.keys() == pages.keys()
    assert all(re.match(r"# .+\n\n[^#]+\Z", text) for text in places.values())


def test_commands_has_every_command_and_option(pages):
    parts = re.split(r"^### ", pages["commands"], flags=re.MULTILINE)
    told = {part.partition("\n")[0]: part for part in parts}
    assert {f"gtp-oracle {name}" for name in oracle.cli.COMMANDS} <= told.keys()
    for command in man.describe_commands():
        for option in command.options:
            for name in option.names:
                assert name in told[f"gtp-harness {command.name}"], (command.name, name)


def test_keys_has_every_table_and_key(pages):
    tables = {name.strip("[]").partition(".")[0] for name in reference_pages._TABLES if name}
    assert tables == assignment._SCHEMA.keys() - NOT_TABLES
    for schema in reference_pages._TABLES.values():
        assert all(f"| `{key}` |" in pages["assignment-keys"] for key in schema)


def test_api_has_every_request(pages):
    told = [
        f"{method} /api/v1{group}{path}"
        for part in pages["api"].split("\n## Below `/api/v1")[1:]
        for group in [part.partition("`")[0]]
        for method, path in re.findall(r"^\| `([A-Z]+) ?([^`?]*)", part, re.MULTILINE)
    ]
    routes = [one for routes in ROUTES for one in routes.routes if one.include_in_schema]
    assert sorted(told) == sorted(f"{min(one.methods)} {one.path_format}" for one in routes)


def test_formats_has_every_command_that_writes_json(pages):
    writers = {
        command.name
        for command in man.describe_commands()
        for option in command.options
        if "--json" in option.names
    }
    told = set(re.findall(r"^## gtp-harness (\w+) --json$", pages["formats"], re.MULTILINE))
    assert told == writers - {"doctor", "cluster"}


def test_python_has_every_public_name(pages):
    names = [
        f"{package.__name__}.{name}" for package in (harness, oracle) for name in package.__all__
    ]
    told = set(re.findall(r"^\.\. auto\w+:: (\S+)$", pages["python"], re.MULTILINE))
    homes = {f"oracle.answers.{name.partition('.')[2]}": name for name in names}
    assert {homes.get(one, one) for one in told} == set(names)


def test_evidence_has_every_claim_and_layer(pages):
    told = pages["evidence"]
    found = tomllib.loads(reference_pages.EVIDENCE.read_text("utf-8"))
    claims = [item for part in ("sandbox", "channels", "others") for item in found[part].items()]
    claims += [(f"{one['threat']} | {one['held']}", one["tests"]) for one in found["service"]]
    for claim, names in claims:
        assert f"| {claim} | {' '.join(f'`{name}`' for name in names)} |" in told
    rows = re.findall(r"^\| (.*) \| ([123, ]+) \| `(.*)` \| (.*) \|$", told, re.MULTILINE)
    layers = [
        (layer, int(level), attack, () if also == "–" else tuple(also.split(" and ")))
        for layer, levels, attack, also in rows
        for level in levels.split(", ")
    ]
    assert sorted(layers) == sorted(mutant[:4] for mutant in MUTANTS)
