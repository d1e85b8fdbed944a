"""The engine author's story in a real browser, by keyboard, with script and without.

Each page is looked at on a phone and on a desk, as in test_browser.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from tests.service.serving import KINDS_AT_LENGTH, add_person, link_for, open_service, settings_of
from tests.service.stories import AT_LENGTH, World, listening
from tests.service.test_suites import F, J, P, X, document

pytestmark = [pytest.mark.long(60), pytest.mark.processes]

RUNS = ([P, P, P, X], [P, F, P, X], [P, F, J, X], [P, F, P, P])


@pytest.fixture(scope="module", params=KINDS_AT_LENGTH)
def world(browser, tmp_path_factory, request):
    """A service that listens, and a browser; once for all stories."""
    settings = settings_of(request.param, request, tmp_path_factory.mktemp("served") / "data")
    shots = os.environ.get("GTP_HARNESS_SHOTS")
    with open_service(settings) as service, listening(service) as address:
        yield World(service, address, browser, Path(shots) if shots else None)


def link_of(world, name):
    person = add_person(world.service, name)
    return link_for(world.service, person)


@pytest.mark.parametrize("way", AT_LENGTH, ids=str)
def test_from_an_empty_list_to_a_badge(world, tmp_path, way):
    with world.person(link_of(world, "Ann Author"), way) as ann:
        suite = make_suite(ann)
        token = make_token(ann)
        statuses = [push(suite, token, tmp_path, *run).returncode for run in RUNS]
        assert statuses == [0, 1, 1, 0]
        look_back(ann, suite)
        compare(ann, suite)
        badge = open_it(ann, suite)
        with world.person(link_of(world, "Ben Reader"), way) as ben:
            read(ben, suite)
        found = httpx.get(badge)
        assert found.status_code == 200 and "3 of 4 passed" in found.text
        remove(ann, suite)
        assert httpx.get(badge).status_code == 404


def make_suite(ann):
    ann.unfold("Account of")
    ann.follow("Test suites")
    ann.look("suites-empty")
    ann.write("Title, such as", "My engine")
    ann.press("Create suite")
    ann.look("suite-empty")
    return ann.page.url


def make_token(ann):
    """Make a token for CI; return its secret, which is shown once."""
    ann.follow("API token")
    ann.write("Name", "ci")
    ann.field("Scope").select_option("submit")
    ann.press("Create token")
    ann.look("token-made")
    return ann.page.get_by_role("status").locator("code").inner_text()


def push(suite, token, folder, *verdicts):
    """Post a run from the command line, as CI does."""
    file = folder / "run.json"
    file.write_bytes(document(verdicts))
    words = [sys.executable, "-m", "harness.cli", "runs", "push", suite, str(file)]
    own = {**os.environ, "GTP_HARNESS_TOKEN": token, "GITHUB_SHA": "c0ffee"}
    return subprocess.run(words, env=own, capture_output=True, text=True, check=False)


def look_back(ann, suite):
    """What broke when; and the way back from there."""
    ann.go(suite)
    assert "3 of 4" in ann.text() and "c0ffee" in ann.text()
    ann.look("suite")
    ann.follow("What broke and when, what got slower")
    assert "Broken now (1)" in ann.page.inner_text("body")
    ann.look("suite-history")
    ann.go(f"{suite}/history/a.gtp.html")
    ann.look("suite-history-file")
    ann.follow("My engine")
    assert ann.page.url == suite


def compare(ann, suite):
    ann.follow("Run 4")
    assert "Compared with run 3" in ann.text() and "Mended (2)" in ann.text()
    ann.look("run")
    ann.field("Run").select_option(label=first_run(ann))
    ann.press("Compare")
    assert "Compared with run 1" in ann.text() and "Broke (1)" in ann.text()
    ann.go(suite)


def first_run(ann):
    """Return what the first run is called among those to compare with."""
    labels = ann.field("Run").locator("option").all_inner_texts()
    return next(one for one in labels if one.startswith("1,"))


def open_it(ann, suite):
    """Let others read the suite, and show its badge; return the badge's address."""
    ann.unfold("Settings")
    ann.tick("Everybody who is signed in may read this suite")
    ann.tick("A badge, for everybody who knows its address")
    ann.press("Save settings")
    picture = ann.page.get_by_role("img", name="The badge")
    picture.scroll_into_view_if_needed()
    assert picture.evaluate("one => one.decode().then(() => one.naturalWidth)") > 50
    ann.look("suite-open")
    ann.go("/suites")
    ann.look("suites")
    ann.go(suite)
    return picture.evaluate("one => one.src")


def read(ben, suite):
    """Somebody else may read, and has no form to change anything."""
    ben.go(suite)
    ben.look("suite-reader")
    assert ben.page.locator("main form").count() == 0
    ben.follow("Run 4")
    assert ben.page.get_by_role("button", name="Remove this run").count() == 0


def remove(ann, suite):
    ann.go(suite)
    ann.unfold("Remove the suite")
    ann.tick("Remove the suite with all its runs")
    ann.press("Remove suite")
    assert "No suite yet" in ann.text()
