"""Compressed bytes come out piece by piece as they went in, whatever the pieces are."""

import gzip
import io
import lzma
import random

import pytest

from harness.archives import archive_streams
from harness.archives.archive_streams import IntakeLimits, Meter, Stream, pieces
from harness.core.errors import ArchiveError

PACKED = random.Random(1).randbytes(3000)  # which nothing makes shorter
ZEROS = bytes(100_000)
HOW = {"gzip": gzip.compress, "xz": lzma.compress, "tar": bytes}
CUT = "it is cut off in the middle of its compressed data"


@pytest.fixture(params=[16, 100, 1 << 16])
def piece(request, monkeypatch):
    monkeypatch.setattr(archive_streams, "PIECE", request.param)
    return request.param


@pytest.mark.parametrize("kind", HOW)
@pytest.mark.parametrize(
    "content", [b"", b"a", PACKED, ZEROS], ids=["none", "a", "random", "zeros"]
)
def test_what_went_in_comes_out_in_small_pieces(kind, content, piece):
    found = list(pieces(io.BytesIO(HOW[kind](content)), kind))
    assert b"".join(found) == content
    assert all(0 < len(one) <= piece for one in found)


@pytest.mark.parametrize("kind", ["gzip", "xz"])
@pytest.mark.parametrize("padding", [0, 4, 400])
def test_one_stream_after_the_other_and_zeros_between(kind, padding, piece):
    pack, zeros = HOW[kind], bytes(padding)
    whole = pack(b"one") + zeros + pack(PACKED) + zeros
    assert b"".join(pieces(io.BytesIO(whole), kind)) == b"one" + PACKED


@pytest.mark.parametrize("kind", ["gzip", "xz"])
@pytest.mark.parametrize("left", [5, 20, -1])
def test_what_was_cut_off_is_told(kind, left, piece):
    with pytest.raises(ArchiveError) as told:
        list(pieces(io.BytesIO(HOW[kind](PACKED)[:left]), kind))
    assert told.value.message == CUT


@pytest.mark.parametrize("kind", ["gzip", "xz"])
def test_what_is_damaged_is_told(kind, piece):
    with pytest.raises(ArchiveError, match=r"^its compressed data is damaged \(.+\)$"):
        list(pieces(io.BytesIO(HOW[kind](b"one") + b"two is not compressed"), kind))


def test_bytes_are_read_in_the_amounts_that_are_wanted_and_counted():
    meter = Meter(IntakeLimits(unpacked=10), 10)
    stream = Stream(iter([b"abcd", b"efgh", b"ijk"]), meter)
    assert [stream.some(3), stream.some(3), stream.exactly(3)] == [b"abc", b"d", b"efg"]
    assert stream.exactly(0) == b""
    with pytest.raises(ArchiveError):
        stream.exactly(9)
    stream = Stream(iter([b"abcd"]), Meter(IntakeLimits(), 10))
    assert [stream.exactly(9), stream.some(9), stream.exactly(1)] == [b"abcd", b"", b""]
