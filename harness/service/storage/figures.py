"""What workers count, with durations, in rows that all of them share: no restart loses any."""

from __future__ import annotations

import json

from sqlalchemy import Connection, select, text

from harness.service import counters
from harness.service.counters import MEASURES, Found, Histogram, Labels, Measure
from harness.service.storage.tables import FIGURE

_BY_NAME = {one.name: one for one in MEASURES}
_ADD = text(
    "INSERT INTO figure (name, labels, place, number, total)"
    " VALUES (:name, :labels, :place, 1, :total) ON CONFLICT (name, labels, place)"
    " DO UPDATE SET number = figure.number + 1, total = figure.total + excluded.total"
)


def count(db: Connection, measure: Measure, seconds: float, **labels: str) -> None:
    """Count one that took so long. Only so many values of a label may ever be given."""
    row = {"name": measure.name, "labels": json.dumps([*labels.items()]), "total": seconds}
    db.execute(_ADD, {**row, "place": counters.bucket(measure, seconds)})


def load_figures(db: Connection) -> Found:
    """Return what was counted until now."""
    result: dict[tuple[str, Labels], Histogram] = {}
    for row in db.execute(select(FIGURE)):
        key = row.name, tuple((name, value) for name, value in json.loads(row.labels))
        known = result.get(key) or counters.empty(_BY_NAME[row.name])
        counts = list(known.counts)
        counts[row.place] = row.number
        result[key] = Histogram(tuple(counts), known.total + row.total)
    return result
