"""Certificates that end soon are told by each command; with those that ended none begins."""

import datetime

import pytest

from harness.cli import cluster, main
from harness.cluster import tls
from harness.core.errors import UsageError

ADDRESS = "tls://10.0.0.1:8786"


@pytest.mark.parametrize(
    ("days", "is_told", "role"),
    list(zip([1, 30, 32], [True, True, False], tls.ROLES, strict=True)),
)
def test_the_end_is_told_a_month_before(tmp_path, capsys, days, is_told, role):
    tls.make(tmp_path / "papers", days)
    found = cluster.check_certificates(ADDRESS, str(tmp_path / "papers"), role)
    said = capsys.readouterr().err
    ends = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=days)
    until = tls.papers(ADDRESS, found, role).good_until()
    assert abs(until - ends) < datetime.timedelta(minutes=5)
    assert (f"end on {ends:%Y-%m-%d}" in said) == is_told
    assert bool(said) == is_told


def test_nothing_is_told_where_there_are_none(capsys):
    assert not cluster.check_certificates("tcp://127.0.0.1:8786", "", tls.SERVER)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("file", ["ca.pem", "worker.pem"])
def test_with_one_that_is_no_certificate_nothing_begins(tmp_path, file):
    tls.make(tmp_path, 400)
    (tmp_path / file).write_text("nonsense")
    with pytest.raises(UsageError, match=f"{file} is not a certificate that can be read"):
        tls.papers(ADDRESS, str(tmp_path), tls.WORKER)


def test_with_one_that_has_ended_nothing_begins(tmp_path):
    tls.make(tmp_path, 0)
    with pytest.raises(UsageError, match=r"is good from .* to .*, in a new folder"):
        tls.papers(ADDRESS, str(tmp_path), tls.SCHEDULER)


def test_an_end_that_no_calendar_has_is_refused(tmp_path, capsys):
    assert main(["cluster", "certificates", str(tmp_path / "papers"), "--days", "9999999"]) == 2
    assert "expected days, at most 36,500" in capsys.readouterr().err
    assert not (tmp_path / "papers").exists()
