"""Pages in a real browser: how they are opened, and what is looked for on them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cache
from pathlib import Path
from typing import NamedTuple

import axe_playwright_python

PHONE, DESK = 390, 1280  # CSS pixels
_AXE = Path(axe_playwright_python.__file__).with_name("axe.min.js")
_MILLISECONDS = 120_000  # on a busy machine, too
# A form that is not taken is shown again, and the browser complains of the status.
_REFUSED = "the server responded with a status of 422"


class Sight(NamedTuple):
    """The visible part of a page as it opens."""

    page: str  # its path in the folder
    width: int  # of the window
    wide: int  # of what is shown, in CSS pixels
    title: str
    scripts: int
    loads: int  # elements that could load something
    boards: tuple[float, ...]  # widths of the boards that are unfolded


_LAY_OUT = """document.querySelectorAll(".test,.far").forEach(
  one => one.style.contentVisibility = "visible")"""
_SIGHT = """() => {
  const root = document.documentElement, all = s => [...root.querySelectorAll(s)];
  return [
    root.scrollWidth, document.title, all("script").length,
    all("script[src],img,iframe,object,embed,link,base,form").length,
    all("details[open] svg[data-m]").map(svg => svg.getBoundingClientRect().width),
  ];
}"""


@contextmanager
def open_page(
    browser, address: Path | str = "", width: int = DESK, home: str = "", **how: object
) -> Iterator:
    """A page in a window of its own; ``how``: the scheme of colors, without script …

    What it loads besides files and what begins with ``home``, or complains of, fails the test at
    the end.
    """
    context = browser.new_context(viewport={"width": width, "height": 900}, **how)
    context.set_default_timeout(_MILLISECONDS)
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(f"{page.url}: {error}"))
    page.on(
        "console",
        lambda told: None if _REFUSED in told.text else wrong.append(f"{page.url}: {told.text}"),
    )
    near = ("file:", "data:", "blob:", *([home] if home else []))
    page.on(
        "request",
        lambda asked: None if asked.url.startswith(near) else wrong.append(asked.url),
    )
    if address:
        go(page, address)
    yield page
    context.close()
    assert not wrong, wrong


@contextmanager
def without_script(page) -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Pages that are opened here run no script of their own, and axe may run in them afterwards.

    Give what lets axe run in between. A page that was opened without any script has no clock, and
    axe would wait for ever; what such a page did not run before, it does not run then.
    """
    session = page.context.new_cdp_session(page)

    def refuse(value: bool) -> None:
        session.send("Emulation.setScriptExecutionDisabled", {"value": value})

    @contextmanager
    def ours() -> Iterator[None]:
        refuse(False)
        yield
        refuse(True)

    refuse(True)
    yield ours
    refuse(False)
    session.detach()


def go(page, address: Path | str) -> None:
    """Open a file, or an address, and wait until it is there."""
    page.goto(address.as_uri() if isinstance(address, Path) else address)


def names(folder: Path) -> list[str]:
    """The pages of a folder, by their paths in it."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.html"))


def sights(
    browser, folder: Path, pages: Sequence[str], widths: Sequence[int], **how: object
) -> list[Sight]:
    """The visible parts of a folder's pages in windows of these widths."""
    found = []
    with open_page(browser, **how) as page:
        for name in pages:
            go(page, folder / name)
            for width in widths:
                page.set_viewport_size({"width": width, "height": 900})
                page.evaluate(_LAY_OUT)  # else as wide as the window was before
                wide, title, scripts, loads, boards = page.evaluate(_SIGHT)
                found.append(Sight(name, width, wide, title, scripts, loads, tuple(boards)))
    return found


@cache
def _axe() -> str:
    return _AXE.read_text()


def complaints(page, *, contrast: bool = True) -> list[str]:
    """What axe finds on a page, of any severity: its rule, and the first places.

    ``contrast``: of text, too, which takes most of the time.

    Below the heads of its table a link may be scrolled in part, if it is as large as it must be.
    Parts out of sight are laid out, as it is when it is scrolled to: until then its buttons would
    lie upon what comes after it.
    """
    if not page.evaluate("() => 'axe' in window"):  # half a megabyte, to be sent and read
        page.evaluate(_axe())
    page.evaluate(_LAY_OUT)
    found = page.evaluate(
        """async (contrast) => {
          const found = await axe.run(document, {
            resultTypes: ["violations"],
            rules: {"target-size": {enabled: true}, "color-contrast": {enabled: contrast}}});
          const isScrolled = node => /partially obscured/.test(node.failureSummary) &&
            document.querySelector(node.target[0]).closest(".mx");
          found.violations.forEach(one => {
            one.nodes = one.nodes.filter(node => one.id !== "target-size" || !isScrolled(node));
          });
          return found.violations.filter(one => one.nodes.length).map(one => [
            one.id, one.nodes.length, one.nodes[0].html, one.nodes[0].failureSummary]);
        }""",
        contrast,
    )
    return [f"{rule} ({count}): {html[:200]} {why}" for rule, count, html, why in found]
