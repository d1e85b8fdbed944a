-- key 5e7c5d88d5414dfa76986ca86f2c8f41f9f4f21c1a5c68210f30bf94ca5b7be5
BEGIN TRANSACTION;
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
INSERT INTO "attempt" VALUES('basis0','student0','public','c0.gtp','','','done','8e8260b8fe3536cf','vm 16153 2896132@8e9275b3-3a74-416f-8a9c-ff2d56c8b9c5',1.79538436817164754862e+09,0,'');
INSERT INTO "attempt" VALUES('basis1','student0','public','c1.gtp','','','done','8e8260b8fe3536cf','vm 16153 2896132@8e9275b3-3a74-416f-8a9c-ff2d56c8b9c5',1.79538436817164754862e+09,0,'');
INSERT INTO "attempt" VALUES('basis2','student1','public','c0.gtp','','','done','8e8260b8fe3536cf','vm 16153 2896132@8e9275b3-3a74-416f-8a9c-ff2d56c8b9c5',1.79538436817164754862e+09,0,'');
INSERT INTO "attempt" VALUES('basis3','student1','public','c1.gtp','','','waiting','','',0.0,0,'');
CREATE TABLE build (
    basis TEXT PRIMARY KEY,
    result TEXT NOT NULL,    -- JSON
    seconds REAL NOT NULL
, link INTEGER NOT NULL DEFAULT 0, signature TEXT NOT NULL DEFAULT '') STRICT, WITHOUT ROWID;
INSERT INTO "build" VALUES('b','{}',1.5,1,'812f8bf769334467a990603281810d2c 7bcd3aa4117241c34a173b27f61b2276 acd1a5ef 018513e7 eab79e89');
CREATE TABLE case_file (     -- what a run asked
    run INTEGER NOT NULL REFERENCES run,
    position INTEGER NOT NULL,
    kind TEXT NOT NULL,      -- public, private or image
    name TEXT NOT NULL,
    sha256 TEXT NOT NULL REFERENCES content,
    path TEXT NOT NULL, link INTEGER NOT NULL DEFAULT 0, signature TEXT NOT NULL DEFAULT '',      -- where it lay, and with it the files that its commands name
    PRIMARY KEY (run, kind, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "case_file" VALUES(1,0,'public','c0.gtp','6da77f7d593f4557f082d8f0d84622b947cdd22a68c410b99c64004fed0932e0','/c0.gtp',1,'6d6284481f4be43c0f6bcd1de2e165e3 8e750d9a0cbe7132806a50e2f75121fb fbaced0b 9734598a 78dbf6bb 2c802e79 8614674c a0726300');
CREATE TABLE chain (         -- the end of each table's chain
    name TEXT PRIMARY KEY,
    length INTEGER NOT NULL,
    digest TEXT NOT NULL,
    unsigned INTEGER NOT NULL,
    seal TEXT NOT NULL       -- the digest of this row
) STRICT, WITHOUT ROWID;
INSERT INTO "chain" VALUES('build',1,'7bcd3aa4117241c34a173b27f61b2276',0,'94481be3e177e9bc9789b92d5331162b');
INSERT INTO "chain" VALUES('case_file',1,'8e750d9a0cbe7132806a50e2f75121fb',0,'7f4665112abec73b7bce97a6209f3551');
INSERT INTO "chain" VALUES('mark',1,'9425e63ab48dc136bbb0c6866fb27333',0,'aae76a0f56c23ce8c4b826a2ceee11fe');
INSERT INTO "chain" VALUES('result',3,'7da4bf171eb8df32f1dda05d1c516df3',0,'0f8f0edc2ad4ecf102df5f9e21725b51');
INSERT INTO "chain" VALUES('run',1,'e888607491b611464ab5baf86f3907f2',0,'9343241058398017dca08870f2d4facc');
INSERT INTO "chain" VALUES('seed',1,'9838580b475c94542cc4dc169afd127e',0,'55629ca0682621277783991d73ebe79a');
INSERT INTO "chain" VALUES('submission',2,'e1a122bf246d28c20b06ebd1e274ded9',0,'84ebc4bb71792853d16bc389986fc4b0');
INSERT INTO "chain" VALUES('wanted',4,'4f4569dde9e285cc9e603af448cf326a',0,'2cc10a96e3e4a3d236ef18efe3c0c1d3');
CREATE TABLE content (       -- of case files
    sha256 TEXT PRIMARY KEY,
    bytes BLOB NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "content" VALUES('6da77f7d593f4557f082d8f0d84622b947cdd22a68c410b99c64004fed0932e0',X'31206E616D650A233F205B785D0A');
CREATE TABLE mark (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run,
    key TEXT NOT NULL,       -- of the submission
    given TEXT NOT NULL,     -- when, ISO 8601, UTC
    marks TEXT NOT NULL,     -- JSON
    submission TEXT NOT NULL,  -- JSON
    bases TEXT NOT NULL      -- of the attempts it was made of, one in a line
, link INTEGER NOT NULL DEFAULT 0, signature TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "mark" VALUES(1,1,'student0','t1','5','{}','basis0
basis1',1,'acf11cf31a1bbcfae194cbc4fd71fdb8 9425e63ab48dc136bbb0c6866fb27333 369fb4a2 36693fd0 f582fe82 81125cdb 178635d3 3dd862a5 1fd966f1');
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
    figures TEXT NOT NULL, last INTEGER NOT NULL DEFAULT 1, link INTEGER NOT NULL DEFAULT 0, signature TEXT NOT NULL DEFAULT '',   -- JSON: these and the times of the replies
    PRIMARY KEY (basis, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "result" VALUES('basis0',1,'8e8260b8fe3536cf','{}','2026-01-01T00:00:01Z',1,0.5,0.25,1048576,0.01,'{}',1,1,'c11931eb1fe493a888c0b5264ae273f5 72ca868c2497cc06c1e68f57248d8020 cf45ad83 32286820 9f944f1a ca244c38 f18443d5 88a73758 c4588631 d53a3aba 4932ceee 877b3112 6164a38b 98334845');
INSERT INTO "result" VALUES('basis1',1,'8e8260b8fe3536cf','{}','2026-01-01T00:00:01Z',1,0.5,0.25,1048576,0.01,'{}',1,2,'6e055782bc784b572052bde4a8312902 43a486b35f7b9cea37709e9f60b4597d c48ebcab de1bc7bc 0e99b4bf b506830b 1ebbb428 35e9cbe6 03e1bb40 02715746 4ea9534b e12032fd c2409bfb 3da2a6ab');
INSERT INTO "result" VALUES('basis2',1,'8e8260b8fe3536cf','{}','2026-01-01T00:00:01Z',1,0.5,0.25,1048576,0.01,'{}',1,3,'308f8969bd25bb0d1d39d4b8607ec06b 7da4bf171eb8df32f1dda05d1c516df3 e01ba2b5 2644c720 8a04c6d0 1eead969 b879f3c9 91928290 a3f76b70 11fb60dd e78fbd79 1130cf1a 3e28e655 52f6a7d7');
CREATE TABLE run (           -- one call of the command
    id INTEGER PRIMARY KEY,
    started TEXT NOT NULL,   -- ISO 8601, UTC
    version TEXT NOT NULL,   -- of the harness
    assignment TEXT NOT NULL,
    digest TEXT NOT NULL,    -- SHA-256 of the assignment file
    options TEXT NOT NULL    -- JSON
, link INTEGER NOT NULL DEFAULT 0, signature TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "run" VALUES(1,'2026-01-01T00:00:00Z','1.0','go-scoring','dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd','{}',1,'e4ef90abff6a1f80bedb4470aece33bf e888607491b611464ab5baf86f3907f2 790f6df7 1050089f 43fd6855 8c82758a 17efbbe9 91758775');
CREATE TABLE seed (          -- one row: of whatever is chosen so that nobody can know it before
    value TEXT NOT NULL
, link INTEGER NOT NULL DEFAULT 0, signature TEXT NOT NULL DEFAULT '') STRICT;
INSERT INTO "seed" VALUES('216d1523427ee3fcb28a7817e35b86f1',1,'1d19386d177fc59dce49d156260194e0 9838580b475c94542cc4dc169afd127e bf87fd8e');
CREATE TABLE signer (        -- one row
    name TEXT NOT NULL,      -- of the key
    taken_over TEXT NOT NULL -- when, if this was a ledger without digests; else empty
) STRICT;
INSERT INTO "signer" VALUES('db626f758b9a2da2','');
CREATE TABLE submission (    -- what a run graded
    run INTEGER NOT NULL REFERENCES run,
    key TEXT NOT NULL,
    record TEXT NOT NULL, link INTEGER NOT NULL DEFAULT 0, signature TEXT NOT NULL DEFAULT '',    -- JSON
    PRIMARY KEY (run, key)
) STRICT, WITHOUT ROWID;
INSERT INTO "submission" VALUES(1,'student0','{}',1,'065bb46ca59111d45693b27653d41562 92cfb2a85a1c4a6cc151eede8ef79491 0e5c551b 08eca193 69ac6251');
INSERT INTO "submission" VALUES(1,'student1','{}',2,'c02cc2fda52a19c6c5cd52f9e9da1226 e1a122bf246d28c20b06ebd1e274ded9 3cd284bc fea148af b06dde21');
CREATE TABLE wanted (        -- the attempts that a run is made of
    run INTEGER NOT NULL REFERENCES run,
    basis TEXT NOT NULL REFERENCES attempt, link INTEGER NOT NULL DEFAULT 0, signature TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run, basis)
) STRICT, WITHOUT ROWID;
INSERT INTO "wanted" VALUES(1,'basis0',1,'f46a6993a184942ff9415e3efb783df3 8143b1f3b00e5669e747fe5104df87df 5252788f 40ad82b0 270a4479 2011dcbd afc16fa0 d02f8143 30f90445');
INSERT INTO "wanted" VALUES(1,'basis1',2,'6bc375d6a5424363f9136d88eaf2928e d1df1a693b0dc6d8c155ac119246b838 7855d3b6 88a24c06 cb499364 0153b529 d8919a97 3850e913 a7503ad7');
INSERT INTO "wanted" VALUES(1,'basis2',3,'74fc4bacc64c5e528e11cda6e371eebe 103feed4518ae5891488cb1059e3fc0f fb564976 525141d2 a958d723 7228a086 04d84026 797e56a2 0c3ff106');
INSERT INTO "wanted" VALUES(1,'basis3',4,'62cfad2c4024bd49085e6129ff1fd257 4f4569dde9e285cc9e603af448cf326a 4cebf872 e4be7eb5 33f6c39d 1e4f70f4 91d63ca1 1a1661aa eb0a6c8d');
CREATE INDEX mark_of ON mark (key, id);
COMMIT;
PRAGMA application_id = 1196707911;
PRAGMA user_version = 3;
