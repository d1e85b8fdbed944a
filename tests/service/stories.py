"""Stories in a real browser: a service that listens, and people who walk through its pages.

People find what they need by its name, as a screen reader says it, and press keys: a page that
needs a mouse fails the story. Each kind of page is looked at once, on a phone and on a desk.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import NamedTuple

import pytest
import uvicorn
from playwright.sync_api import Error

from harness.service.app import guard_application
from harness.service.web.service import Service
from tests.harness.browsing import DESK, PHONE, complaints, open_page, without_script

_MOST_STEPS = 120  # elements between the top of a page and what is looked for
_WIDE = "document.documentElement.scrollWidth"
_IS_THERE = "one => [one === document.activeElement, one.isConnected]"
_STAY = """() => {
  window.stop();
  return document.querySelector("meta[http-equiv=refresh]") !== null;
}"""
_AT = """() => {
  const at = document.activeElement;
  const label = at.labels && at.labels[0] ? at.labels[0].textContent : "";
  return (at.getAttribute("aria-label") || label || at.textContent || at.value || "")
    .replace(/\\s+/g, " ").trim();
}"""


@contextmanager
def listening(service: Service) -> Iterator[str]:
    """Let a service answer on a free port, in a thread of this process; give its address."""
    config = uvicorn.Config(
        guard_application(service), port=0, log_level="error", timeout_graceful_shutdown=1
    )
    server = uvicorn.Server(config)
    started = threading.Event()

    async def startup(sockets=None) -> None:
        await uvicorn.Server.startup(server, sockets)
        started.set()

    server.startup = startup
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    assert started.wait(30)
    (port,) = {sock.getsockname()[1] for one in server.servers for sock in one.sockets}
    yield f"http://127.0.0.1:{port}"
    server.should_exit = True
    thread.join(30)


class Way(NamedTuple):
    """How somebody looks at pages."""

    width: int  # CSS pixels, while keys are pressed; pages are looked at in all widths
    has_script: bool = True


# A desk with script and a phone without; the other two in the slow tier.
WAYS = [
    Way(DESK),
    Way(PHONE, has_script=False),
    pytest.param(Way(PHONE), marks=pytest.mark.slow),
    pytest.param(Way(DESK, has_script=False), marks=pytest.mark.slow),
]
# Of the longer stories: one goes both ways in the ci tier, which is dear.
AT_LENGTH = [WAYS[0], pytest.param(WAYS[1], marks=pytest.mark.slow), *WAYS[2:]]
Switch = Callable[[], AbstractContextManager[None]]


class Person:
    """Somebody in front of a browser, signed in by a link."""

    switch: Switch = nullcontext  # lets axe run where pages run no script

    def __init__(self, page, address: str, way: Way, shots: Path | None, seen: set) -> None:
        self.page = page
        self._address = address
        self._way = way
        self._shots = shots  # where pictures of pages go; None: nowhere
        self._seen = seen

    def go(self, path: str) -> None:
        """Open a page by its address, which may be a whole one."""
        place = path if path.startswith("http") else self._address + path
        try:
            self.page.goto(place)
        except Error as error:  # by a page that comes anew by itself
            assert "interrupted by another navigation" in str(error)
            self.page.goto(place)

    def text(self) -> str:
        """Return what the page says."""
        return self.page.inner_text("main")

    def press(self, name: str, role: str = "button") -> None:
        """Go to a button or a link by the keyboard, and press it: another page comes."""
        self.reach(name, role)
        with self.page.expect_navigation():
            self.page.keyboard.press("Enter")

    def answer(self, name: str) -> None:
        """Press a button whose answer comes in place; without script it comes as a page."""
        self.reach(name)
        with self.page.expect_response(lambda one: one.request.method == "GET"):
            self.page.keyboard.press("Enter")
        self.page.wait_for_load_state()
        self.page.wait_for_function(
            "() => !document.querySelector('.htmx-request,.htmx-settling')"
        )

    def save(self, name: str, role: str = "button") -> bytes:
        """Press a button or a link that gives a file; return what is saved."""
        self.reach(name, role)
        with self.page.expect_download() as begun:
            self.page.keyboard.press("Enter")
        return Path(begun.value.path()).read_bytes()

    def reach(self, name: str, role: str = "button") -> None:
        """Go to a button or a link by the keyboard."""
        found = self.page.get_by_role(role, name=name, exact=True).first
        found.wait_for()
        self._tab_to(found)

    def follow(self, name: str) -> None:
        """Follow a link."""
        self.press(name, "link")

    def field(self, label: str):
        """Return the field whose label begins so."""
        return self.page.get_by_label(re.compile(f"^{re.escape(label)}"))

    def write(self, label: str, text: str) -> None:
        """Type into a field."""
        self._tab_to(self.field(label))
        self.page.keyboard.type(text)

    def set(self, label: str, value: str) -> None:
        """Give a field that is no text, such as a time, its value."""
        self._tab_to(self.field(label))
        self.field(label).fill(value)

    def choose(self, label: str, *paths: Path) -> None:
        """Choose files; the window for that is the system's and not tested."""
        self.field(label).set_input_files(paths)

    def drop(self, heading: str, *paths: Path) -> None:
        """Drop files or folders upon a form, as from a window of the system's."""
        form = self.page.locator("form").filter(has=self.page.get_by_role("heading", name=heading))
        form.scroll_into_view_if_needed()
        box = form.bounding_box()
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        place = {"x": box["x"] + 9, "y": box["y"] + 9, "data": data}
        session = self.page.context.new_cdp_session(self.page)
        for kind in ("dragEnter", "dragOver", "drop"):
            session.send("Input.dispatchDragEvent", {"type": kind, **place})
        session.detach()

    def unfold(self, name: str) -> None:
        """Open what is folded under words that begin so."""
        words = re.compile(f"^{re.escape(name)}")
        self._tab_to(self.page.locator("summary", has_text=words).first)
        self.page.keyboard.press("Enter")

    def tick(self, label: str) -> None:
        """Tick a box."""
        self._tab_to(self.field(label))
        self.page.keyboard.press("Space")

    def _tab_to(self, wanted) -> None:
        """Press Tab until the keyboard is there."""
        place = wanted.element_handle()
        for _ in range(_MOST_STEPS):
            try:
                is_there, is_shown = place.evaluate(_IS_THERE)
            except Error as error:
                _see_anew(error)
                is_there = is_shown = False
            if is_there:
                return
            if not is_shown:  # a live part has come anew
                place = wanted.element_handle()
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{self.page.url}: no Tab leads to {wanted}; now: {self.at()}")

    def at(self) -> str:
        """Return the name of what has the keyboard."""
        return self._ask(_AT)

    def _ask(self, script: str):
        """Return what a script finds; of a page that comes anew meanwhile, on the new one."""
        while True:
            try:
                return self.page.evaluate(script)
            except Error as error:
                _see_anew(error)
                self.page.wait_for_load_state()

    def look(self, name: str) -> None:
        """Look at a page in all widths: nothing scrolls sideways, and axe finds nothing.

        axe looks at a phone, where all is nearest to each other, and at a desk where it looks at
        colors. ``name``: of the kind of page; one is looked at once in each way.
        """
        if (name, self._way) in self._seen:
            return
        self._seen.add((name, self._way))
        for width in (PHONE, DESK):
            self.page.set_viewport_size({"width": width, "height": 900})
            wide = self._ask(_WIDE)
            assert wide <= width, f"{name}: {wide} pixels wide"
            self._picture(f"{name}-{width}")
            if self._way.has_script and (width == PHONE or self._looks_at_colors()):
                found = complaints(self.page, contrast=width == DESK)
                assert found == [], f"{name}: {found}"
        self.page.set_viewport_size({"width": self._way.width, "height": 900})
        if not self._way.has_script:
            self._look_at_plain(name)

    def _looks_at_colors(self) -> bool:
        """Return whether colors are looked at: on a fourth of the pages, in the slow tier on all.

        All have one style, and it takes three quarters of the time.
        """
        return self._way.width == PHONE or len(self._seen) % 4 == 1

    def _look_at_plain(self, name: str) -> None:
        """Let axe look at a page without script, in one width; it may not come anew meanwhile.

        A page reloads itself instead of running a script: axe may say so.
        """
        comes_anew = self._ask(_STAY)
        with self.switch():
            found = complaints(self.page, contrast=False)
        wrong = [one for one in found if not (comes_anew and one.startswith("meta-refresh "))]
        assert wrong == [], f"{name}, without script: {wrong}"
        if comes_anew:
            self.page.reload()

    def _picture(self, name: str) -> None:
        if self._shots:
            script = "" if self._way.has_script else "-plain"
            self.page.screenshot(path=self._shots / f"{name}{script}.png", full_page=True)


def _see_anew(error: Error) -> None:
    """Raise an error again unless it says that a page has come anew by itself."""
    if "context was destroyed" not in str(error):
        raise error


class World:
    """A service that listens, and a browser in which people look at it."""

    def __init__(self, service: Service, address: str, browser, shots: Path | None = None) -> None:
        self.service = service
        self.address = address
        self._browser = browser
        self._shots = shots
        self._seen: set = set()

    @contextmanager
    def person(self, link: str, way: Way) -> Iterator[Person]:
        """Let somebody follow a link, and sign in."""
        with open_page(self._browser, "", way.width, self.address) as page:
            own = Person(page, self.address, way, self._shots, self._seen)
            if way.has_script:
                yield self._entered(own, link)
            else:
                with without_script(page) as own.switch:
                    yield self._entered(own, link)

    def _entered(self, own: Person, link: str) -> Person:
        own.go("/" + link.split("/", 3)[3])
        own.look("enter")
        own.press("Sign in")
        return own
