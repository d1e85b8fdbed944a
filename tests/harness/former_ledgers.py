"""The tables of former versions of the harness, as it made them then."""

APPLICATION = 0x47545047

# As they were in version 2.
TABLES = """
CREATE TABLE seed (          -- one row: of whatever is chosen so that nobody can know it before
    value TEXT NOT NULL
) STRICT;
CREATE TABLE run (           -- one call of the command
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,   -- ISO 8601, UTC
    version TEXT NOT NULL,   -- of the harness
    assignment TEXT NOT NULL,
    digest TEXT NOT NULL,    -- SHA-256 of the assignment file
    options TEXT NOT NULL    -- JSON
) STRICT;
CREATE TABLE content (       -- of case files
    sha256 TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE case_file (     -- what a run asked
    run INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,      -- public, private or image
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL REFERENCES content,
    path TEXT NOT NULL,      -- where it lay, and with it the files that its commands name
    PRIMARY KEY (run, kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE submission (    -- what a run graded
    run INTEGER NOT NULL REFERENCES run,
    key TEXT NOT NULL,
    record TEXT NOT NULL,    -- JSON
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE build (
    basis TEXT PRIMARY KEY,
    result TEXT NOT NULL,    -- JSON
    seconds REAL NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE attempt (       -- submission × case file
    basis TEXT PRIMARY KEY,
    key TEXT NOT NULL,       -- of the submission
    kind TEXT NOT NULL,
    name TEXT NOT NULL,      -- of the case file
    sha256 TEXT NOT NULL,    -- of its content
    build TEXT NOT NULL,     -- the basis of the submission's build
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'leased', 'done', 'fault')),
    token TEXT NOT NULL DEFAULT '',   -- of the lease: who has it may finish the attempt
    owner TEXT NOT NULL DEFAULT '',   -- whose the lease is: machine, process, its start
    until REAL NOT NULL DEFAULT 0,    -- the end of the lease, seconds since 1970
    faults INTEGER NOT NULL DEFAULT 0,
    fault TEXT NOT NULL DEFAULT ''    -- how the harness broke the last time
) STRICT, WITHOUT ROWID;
CREATE TABLE wanted (        -- the attempts that a run is made of
    run INTEGER NOT NULL REFERENCES run,
    basis TEXT NOT NULL REFERENCES attempt,
    PRIMARY KEY (run, basis)
) STRICT, WITHOUT ROWID;
CREATE TABLE result (
    basis TEXT NOT NULL REFERENCES attempt,
    number INTEGER NOT NULL, -- 1, and 2 for the second run, alone
    token TEXT NOT NULL,
    result TEXT NOT NULL,    -- JSON; null: there was nothing to run
    started TEXT NOT NULL,
    pid INTEGER NOT NULL,
    seconds REAL NOT NULL,
    cpu REAL NOT NULL,       -- seconds of the engine and all it started
    memory INTEGER NOT NULL, -- bytes
    own_cpu REAL NOT NULL,   -- seconds of the harness
    figures TEXT NOT NULL,   -- JSON: these and the times of the replies
    PRIMARY KEY (basis, number)
) STRICT, WITHOUT ROWID;
CREATE TABLE mark (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run,
    key TEXT NOT NULL,       -- of the submission
    given TEXT NOT NULL,     -- when, ISO 8601, UTC
    marks TEXT NOT NULL,     -- JSON
    submission TEXT NOT NULL,  -- JSON
    bases TEXT NOT NULL      -- of the attempts it was made of, one in a line
) STRICT;
CREATE INDEX mark_of ON mark (key, id);
"""
# What version 3 added, when nothing but SQLite was there.
SIGNING = """
CREATE TABLE signer (        -- one row
    name TEXT NOT NULL,      -- of the key
    taken_over TEXT NOT NULL -- when, if this was a ledger without digests; else empty
) STRICT;
CREATE TABLE chain (         -- the end of each table's chain
    name TEXT PRIMARY KEY,
    length INTEGER NOT NULL,
    digest TEXT NOT NULL,
    unsigned INTEGER NOT NULL,
    seal TEXT NOT NULL       -- the digest of this row
) STRICT, WITHOUT ROWID;
ALTER TABLE result ADD COLUMN last INTEGER NOT NULL DEFAULT 1; -- 0: in doubt, to be run again
"""
