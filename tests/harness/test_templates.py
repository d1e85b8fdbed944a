"""Templates of pages: what they show, that they are escaped, and that they are kept compiled."""

import builtins
import dis
import os
import re
from pathlib import Path
from types import CodeType

import pytest
import tornado.template
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup as JinjaMarkup
from markupsafe import escape as jinja_escape

from harness.report.html import templates
from harness.report.html.templates import Markup, Template, escape, join

HARNESS = Path(templates.__file__).parents[2]
ROWS = [(1, "a<b"), (2, "")]


@pytest.fixture
def write(tmp_path):
    def write(source: str, **given: object) -> Template:
        path = tmp_path / "page.html"
        path.write_text(source)
        return Template(str(path), **given)

    return write


@pytest.mark.parametrize(
    "source",
    [
        "plain {{ 1 + 1 }} {{ '<&>' }}",
        "{% for n, text in rows %}{{ n }}:{{ text }};{% end %}",
        "{% for n, text in rows %}{% if text %}{{ text }}{% else %}none{% end %}{% end %}",
        "{% if not rows %}a{% elif rows[0][0] == 1 %}b{% else %}c{% end %}",
        "{% set a, b = rows[0] %}{{ b }}{# a comment #}{{ a }}",
        "{# {{ no }} #}{{ {'a': '}'}['a'] }}{% if rows %}{# nothing #}{{ rows }}{% end %}",
    ],
)
def test_what_tornado_has_means_the_same(write, source):
    """Apart from how quotes are escaped, which are characters by number here."""
    whole = write(f"{{% def page(rows) %}}{source}{{% end %}}").page(ROWS)
    same = tornado.template.Template(source).generate(rows=ROWS).decode()
    assert whole == same.replace("&quot;", "&#34;").replace("&#x27;", "&#39;")


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("{% def page(a, b='<') %}{{ a }}{{ b }}{% end %}", "1&lt;"),
        ("{% def in_bold(content, end='') %}<b>{{ content }}</b>{{ end }}{% end %}"
         "{% def page(a) %}{% call in_bold() %}{{ a }}<{% end %}{% call in_bold(end='.') %}"
         "{% call in_bold() %}{{ a }}{% end %}{% end %}{% end %}", "<b>1<</b><b><b>1</b></b>."),
        ("{% def page(a) %}{% def own(b) %}{{ a }}{{ b }}{% end %}{{ own(2) }}{{ own(own(3)) }}"
         "{% end %}", "12113"),
        ("{% def page(a) %}{{ join(', ', ['<', parts.dot(a), a]) }}{% end %}",
         '&lt;, <span class="dot 1"></span>, 1'),
        ("{% def page(a) %}{{ parts.items([a]) }}{{ number_of(a, 'test') }}{% end %}",
         "<ul><li>1</li></ul>1 test"),
    ],
)  # fmt: skip
def test_functions(write, source, shown):
    assert write(source).page(1) == shown


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("\n  <p>\n    a\n  b\n  </p>\n", "<p>a b</p>"),
        ("<p>a</p>\n\n<p>b</p>\n\n\n", "<p>a</p>\n<p>b</p>\n"),
        ("<p>\n  {{ 1 }}\n  {{ 2 }} {{ 3 }}\n</p>", "<p>12 3</p>"),
        ("<pre>{{ 'a\\n\\n  b' }}</pre>", "<pre>a\n\n  b</pre>"),
        ('<a\n  href="x">a</a>', '<a href="x">a</a>'),
        ("{% if 1 %}\n  a\n{% end %}\n", "a"),
    ],
)
def test_the_layout_of_the_source_is_not_the_pages(write, source, shown):
    page = write(f"{{# a comment #}}\n\n{{% def page() %}}{source}{{% end %}}\n\n").page()
    assert page == shown


@given(st.text() | st.integers() | st.none() | st.floats())
def test_a_value_is_escaped_once_as_the_service_does(value):
    once = escape(value)
    assert once == str(jinja_escape(value))
    assert escape(Markup(once)) == jinja_escape(Markup(once)) == escape(JinjaMarkup(once)) == once
    assert isinstance(Markup("<") + once, Markup)
    assert join("<", [Markup("<") + "<", ">"]) == "<&lt;&lt;&gt;"


def loaded_names(code: CodeType) -> set[str]:
    own = {one.argval for one in dis.get_instructions(code) if one.opname == "LOAD_GLOBAL"}
    inner = (one for one in code.co_consts if isinstance(one, CodeType))
    return own.union(*map(loaded_names, inner))


TEMPLATES = [one for one in HARNESS.glob("**/*.html") if "service" not in one.parts]


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_a_template_is_given_all_that_it_takes(path):
    """An undefined name would be found only where it is shown."""
    modules = "".join(one.read_text() for one in HARNESS.glob("**/*.py"))
    given = re.findall(rf'Template\("[\w/]*{path.name}", (\w+)=', modules)
    template = Template(str(path))
    assert not hasattr(template, "not_there")  # so that it is loaded
    found = vars(template)
    own = [one for one in found.values() if getattr(one, "__module__", "") is None]
    assert own
    names = set[str]().union(*(loaded_names(one.__code__) for one in own))
    assert names <= {*found, *dir(builtins), *given}


@pytest.fixture
def count_compiled(monkeypatch):
    compiled, real = [], templates._write_python
    monkeypatch.setattr(templates, "_write_python", lambda text: compiled.append(1) or real(text))
    monkeypatch.setattr("sys.dont_write_bytecode", False)
    return lambda: len(compiled)


def test_a_template_is_compiled_when_it_or_what_compiles_it_has_changed(
    write, count_compiled, tmp_path, monkeypatch
):
    path = tmp_path / "page.html"
    for _ in range(2):
        assert write("{% def page() %}one{% end %}").page() == "one"
    assert count_compiled() == 1
    assert write("{% def page() %}a longer one{% end %}").page() == "a longer one"
    assert count_compiled() == 2
    os.utime(path, (1e9, 1e9))
    assert Template(str(path)).page() == "a longer one"
    assert count_compiled() == 3
    compiler = tmp_path / "templates.py"
    compiler.touch()
    os.utime(compiler, (1e9, 1e9))
    monkeypatch.setattr(templates, "__file__", str(compiler))
    for _ in range(2):
        assert Template(str(path)).page() == "a longer one"
    assert count_compiled() == 4


def test_a_template_is_shown_where_nothing_can_be_kept(write, count_compiled, tmp_path):
    (tmp_path / "__pycache__").write_text("not a folder")
    for _ in range(2):
        assert write("{% def page() %}one{% end %}").page() == "one"
    assert count_compiled() == 2


@pytest.mark.parametrize("tag", ["endif", "macro page()", "while rows", "if", "def"])
def test_what_no_template_has_is_an_error_where_it_is_compiled(write, tag):
    with pytest.raises(SyntaxError):
        write(f"{{% def page(rows) %}}{{% {tag} %}}{{% end %}}{{% end %}}").page([])
