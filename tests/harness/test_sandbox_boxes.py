"""A box at every level, for the user of the tests and, if that is root, for an ordinary one."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from functools import cache, partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from harness.cli import machine as doctor_module
from harness.cli.machine import DOCTOR
from harness.core.errors import SandboxError
from harness.sandbox import canary, landlock, levels, view
from harness.sandbox.launcher import Boxed, BoxLauncher
from harness.sandbox.plan import BoxEnd
from harness.sandbox.redteam import attack_table, referee, scene
from harness.sandbox.redteam.attack_table import ROSTER, Attack
from harness.sandbox.redteam.scene import AttackStage
from tests.harness import sandbox_attacks
from tests.harness.circumstances import SOMEBODY
from tests.harness.sandbox_checks import CHECKS
from tests.harness.sandbox_mutants import LAYERS, MUTANTS

pytestmark = pytest.mark.processes

ROOM = Path(__file__).resolve().parents[2]
USERS = ["root", "ordinary user"] if os.geteuid() == 0 else ["ordinary user"]
LEVELS = (3, 2, 1)


@cache
def why_not(level: int) -> str:
    try:
        levels.make_proven(level).close()
    except SandboxError as error:
        return str(error)
    return ""


def needs(level: int) -> None:
    if reason := why_not(level):
        pytest.skip(reason)


def needs_namespaces() -> None:
    """Skip the test where nobody may make a namespace, whatever else of a level works."""
    kind = "--uts" if os.geteuid() == 0 else "--user"
    made = subprocess.run(["unshare", kind, "true"], stderr=subprocess.PIPE, check=False)
    if made.returncode:
        pytest.skip(f"this machine refuses namespaces: {made.stderr.decode().strip()}")


def test_level_1_works_wherever_there_is_landlock() -> None:
    """Else a fault of ours would be skipped as one of the machine."""
    if not landlock.abi():
        pytest.skip("this machine has no Landlock")
    assert why_not(1) == ""


@pytest.fixture(scope="module")
def open_room() -> Iterator[Path]:
    """The code at a place where every user may read it."""
    with tempfile.TemporaryDirectory(prefix="gtp-harness-room-") as folder:
        room = Path(folder)
        room.chmod(0o755)
        # What Python has compiled is copied, or each start would compile anew; but not its halves.
        ignore = shutil.ignore_patterns("*.pyc.*", "test_*", "golden")
        for name in ("harness", "oracle", "tests/harness"):
            shutil.copytree(ROOM / name, room / name, ignore=ignore)
        for path in room.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        yield room


def open_python() -> str:
    """A Python that every user may execute."""
    path = os.path.realpath(sys.executable)
    above = [Path(path), *Path(path).parents]
    if all(place.stat().st_mode & stat.S_IXOTH for place in above):
        return path
    return "/usr/bin/python3"


@pytest.fixture
def shared_folder() -> Iterator[Path]:
    """An empty folder in which every user may write."""
    with tempfile.TemporaryDirectory(prefix="gtp-harness-shared-") as folder:
        Path(folder).chmod(0o1777)
        yield Path(folder)


def names(folder: Path) -> set[str]:
    """Return the paths of all files in a folder except compiled Python."""
    return {str(path) for path in folder.rglob("*") if "__pycache__" not in str(path)}


def as_user(
    user: str, room: Path, *words: str, temporary: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python with ``words`` as the user, from a folder where its imports are found.

    ``temporary``: the folder for temporary files.
    """
    python = sys.executable
    become: list[str] = []
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(room)}
    if temporary:
        environment["TMPDIR"] = str(temporary)
    if user != "root" and os.geteuid() == 0:
        python = open_python()
        become = ["setpriv", f"--reuid={SOMEBODY}", f"--regid={SOMEBODY}", "--clear-groups"]
    done = subprocess.run(
        [*become, python, "-B", *words],
        cwd=room,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1800,  # a busy machine is no failure
        check=False,
    )
    print(done.stdout, done.stderr)
    return done


# The others are left to the slow tier. Root grades a class at level 3 wherever it works, and at
# level 1 an ordinary user's engines share the most with others.
FREQUENT = {(3, "root"), (1, "ordinary user")}


def is_rare(level: int, user: str) -> bool:
    return "root" in USERS and (level, user) not in FREQUENT


# In the slow tier only: memory is counted in the same way at each level, and level 1 has these
# attacks already, by an ordinary user, for whom there are no control groups.
MEMORY_ATTACKS = "holds_memory_without_control_groups"
# A user namespace of our own making is at level 2 of an ordinary user alone.
CHECKED = [
    pytest.param(level, user, marks=[pytest.mark.slow] * (is_rare(level, user) and level != 2))
    for level, user in itertools.product(LEVELS, USERS)
    if (level, user) != (2, "root")
]


@pytest.mark.long(30)
@pytest.mark.parametrize(("level", "user"), CHECKED)
def test_checks(level: int, user: str, open_room: Path) -> None:
    """All of them by one call: to load what they need takes longer than most of them."""
    needs(level)
    checks = [name for name in CHECKS if name != MEMORY_ATTACKS]
    done = as_user(user, open_room, "-m", "tests.harness.sandbox_checks", str(level), *checks)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_memory_is_held_without_control_groups(level: int, open_room: Path) -> None:
    needs(level)
    words = ("-m", "tests.harness.sandbox_checks", str(level), MEMORY_ATTACKS)
    done = as_user(USERS[0], open_room, *words)
    assert done.returncode == 0, done.stderr


# --- the red team


ATTACKED = [
    pytest.param(level, user, ROSTER, id=f"{level}-{user}-all", marks=pytest.mark.slow)
    for level in LEVELS
    for user in USERS
] + [
    pytest.param(level, user, sandbox_attacks.deciding(level), id=f"{level}-{user}")
    for level, user in ((3, USERS[0]), (1, "ordinary user"))
]


@pytest.mark.long(30)
@pytest.mark.parametrize(("level", "user", "roster"), ATTACKED)
def test_every_attack_is_held(
    level: int, user: str, roster: tuple[Attack, ...], open_room: Path, shared_folder: Path
) -> None:
    """Except those that a level is known, and says, not to hold."""
    needs(level)
    words = ("-m", "harness.cli", "doctor", "--attack", "--level", str(level))
    if roster != ROSTER:
        words = ("-m", "tests.harness.sandbox_attacks", str(level))
    before = names(open_room)
    done = as_user(user, open_room, *words, temporary=shared_folder)
    assert names(shared_folder) == set()
    assert names(open_room) == before
    lines = done.stdout.splitlines()
    escaped = [line for line in lines if line.startswith("  ESCAPED")]
    known = [attack for attack in roster if level in attack.leaks]
    # What every result says. A channel may fail: on a busy machine, others disturb it.
    assert any(not attack.receiver for attack in known) == (level in levels.GAPS)
    assert [line for line in escaped if "(this level cannot hold it)" not in line] == []
    through = {attack.title for attack in known if any(attack.title in line for line in escaped)}
    assert through >= {attack.title for attack in known if not attack.receiver}
    untried = [line for line in lines if line.startswith("  untried")]
    assert all("read within a day" in line for line in untried)
    able = [attack for attack in roster if scene.can_run(attack)]
    held = len(able) - len(escaped) - len(untried)
    assert any(line.startswith(f"{held} of {len(able)} held at level {level}") for line in lines)
    assert done.returncode == 0, done.stderr
    assert not any("Traceback" in text for text in (done.stdout, done.stderr))
    assert done.stderr == ""  # progress is for terminals


# At each level: of root, or of an ordinary user where that is the only one.
LAYERED = [
    pytest.param(level, user, marks=[pytest.mark.slow] * (is_rare(level, user) and user != "root"))
    for level in LEVELS
    for user in USERS
]


@pytest.mark.long(20)
@pytest.mark.parametrize(("level", "user"), LAYERED)
def test_each_layer_matters(level: int, user: str, open_room: Path) -> None:
    """With it taken out, an attack gets through that is held with it."""
    needs(level)
    known = {layer for layer, one in LAYERS if one == level}
    assert known == {mutant.layer for mutant in MUTANTS if mutant.level == level}
    done = as_user(user, open_room, "-m", "tests.harness.sandbox_mutants", str(level))
    assert done.returncode == 0, done.stderr


def test_what_is_taken_out_is_there() -> None:
    """A name that is set, but that nobody reads any more, takes nothing out."""
    taken = 0
    for layer in LAYERS.values():
        modules = dict(re.findall(r"import ([\w.]+) as (\w)", layer.code))
        for module, alias in modules.items():
            names = re.findall(rf"\b{alias}\.(\w+)", layer.code)
            assert all(hasattr(import_module(module), name) for name in names), layer.code
            taken += len(names)
    assert taken > 10


def test_the_roster() -> None:
    """Every attack is there once, and each can be run."""
    assert len(ROSTER) >= 120
    names = [attack.name for attack in ROSTER]
    assert len(set(names)) == len(names)
    titles = [attack.title for attack in ROSTER]
    assert len(set(titles)) == len(titles)
    assert max(map(len, titles)) < 62  # or the lines of doctor are ragged
    assert all(set(attack.layer) == {3, 2, 1} for attack in ROSTER)


def test_doctor_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is held by which layer, an escape and a told gap."""
    held, gap = ROSTER[0], next(attack for attack in ROSTER if attack.leaks)
    end = BoxEnd(0, "", None, 0, 0.0, ())
    findings = [
        referee.AttackResult(gap, 1, ("seen",), end, ""),
        referee.AttackResult(held, 1, (), end, "", 1.25),
    ]
    monkeypatch.setattr(referee, "play_at_once", lambda _: (one for one in findings))
    monkeypatch.setattr(doctor_module, "_find_levels", lambda: {3: "no bwrap", 2: "no", 1: ""})
    assert DOCTOR.main(["--attack", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [level["works"] for level in said["levels"]] == [False, False, True]
    assert said["levels"][0]["why_not"] == "no bwrap"
    assert [one["attack"] for one in said["attacks"]] == [held.name, gap.name]
    assert [one["held"] for one in said["attacks"]] == [True, False]
    assert said["attacks"][0]["layer"] == "Landlock"
    assert [one["seconds"] for one in said["attacks"]] == [1.25, 0.0]
    assert said["attacks"][1]["known"]
    assert said["attacks"][1]["escapes"] == ["seen"]
    findings[1] = findings[1]._replace(escapes=("read it",))
    assert DOCTOR.main(["--attack"]) == 1
    text = capsys.readouterr().out
    assert "0 of 2 held at level 1." in text
    assert text.endswith(
        "\n0 of 2 attacks held, 1 not: their level cannot hold them (docs/threat-model.md).\n"
        "Do not run programs that you do not trust at level 1: attacks ESCAPED there.\n"
    )
    assert "ESCAPED" in text


def test_a_channel_is_told_with_what_gets_through(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And what was not tried is not counted as held."""
    end = BoxEnd(0, "", None, 0, 0.0, ())
    timed, times = (
        next(one for one in ROSTER if one.name == name)
        for name in ("looked_up_names@next", "access_times@next")
    )
    findings = [
        referee.AttackResult(timed, 2, ("heard",), end, "", bandwidth=14000.0),
        referee.AttackResult(times, 2, (), end, "", bandwidth=0.0, untested="all were read"),
    ]
    monkeypatch.setattr(referee, "play_at_once", lambda _: (one for one in findings))
    monkeypatch.setattr(doctor_module, "_find_levels", lambda: {2: ""})
    assert DOCTOR.main(["--attack"]) == 0
    text = capsys.readouterr().out
    assert "\n0 of 2 held at level 2, 1 could not be tried.\n" in text
    assert f"{timed.title:60}14,000\n" in text.partition("bits a second")[2]


def test_what_is_learnt_through_a_channel() -> None:
    sent = referee.draw_bits(256)
    assert len(sent) == 256
    assert referee.information(sent, sent) == 256
    assert referee.information(sent, "") == 0
    for _ in range(20):  # chance learns nothing
        assert referee.information(sent, referee.draw_bits(256)) == 0
    turned = sent.translate(str.maketrans("01", "10"))
    assert referee.information(sent, turned) == 0
    half_wrong = referee.information(sent, sent[:200] + turned[200:])
    assert 50 < half_wrong < 80  # 22 of 100 are wrong: a quarter of it remains


def test_attacks_without_their_language_are_left_out_by_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A machine without a compiler: nothing fails, and each attack is named."""
    monkeypatch.setattr(scene.shutil, "which", lambda name: None)
    able = [attack for attack in ROSTER if scene.can_run(attack)]
    assert 100 < len(able) < len(ROSTER)
    monkeypatch.setattr(referee, "play_at_once", lambda _: (one for one in ()))
    monkeypatch.setattr(doctor_module, "_find_levels", lambda: {1: ""})
    monkeypatch.setattr(doctor_module, "_bubblewrap", lambda: "not installed")
    assert DOCTOR.main(["--attack", "--json"]) == 0
    left_out = json.loads(capsys.readouterr().out)["left_out"]
    assert len(left_out) == len(ROSTER) - len(able)
    assert {"attack": "trace.c", "missing": ["cc"]} in left_out


def test_an_attack_that_could_not_start_is_run_again_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Engines of one user may share a count of processes: a bomb leaves a neighbour none."""
    judge, first = referee._judge, []

    def beside_a_bomb(
        launcher: object, scene: AttackStage, attack: object
    ) -> referee.AttackResult:
        finding = judge(launcher, scene, attack)  # type: ignore[arg-type]
        if first:
            return finding
        first.append(finding)
        return finding._replace(escapes=("did not run: nothing is proven",))

    level = next(iter(LEVELS))
    needs(level)
    monkeypatch.setattr(referee, "_judge", beside_a_bomb)
    (finding,) = referee.play_at_once((level,), ROSTER[:1])
    assert first
    assert finding.escapes == ()


class NoLauncher:
    """Engines without a sandbox, so that attacks may succeed."""

    level = 0
    limits = referee.LIMITS

    def close(self) -> None:
        """Nothing is left."""

    def give(self, folder: Path) -> None:
        """Build steps may write into it: they may write anywhere."""

    def start(self, seen: view.View, words: list[str]) -> Bare:
        return Bare(words, seen.folder)


class Bare:
    """Looks like a box."""

    def __init__(self, words: list[str], folder: str) -> None:
        pipe = subprocess.PIPE
        self._process = subprocess.Popen(words, cwd=folder, stdin=pipe, stdout=pipe, stderr=pipe)
        self.stdin, self.stdout, self.stderr = (
            self._process.stdin,
            self._process.stdout,
            self._process.stderr,
        )
        self._pidfd = os.pidfd_open(self._process.pid)

    def fileno(self) -> int:
        return self._pidfd

    def close(self) -> None:
        self._process.kill()
        self._process.communicate()
        os.close(self._pidfd)


# Those that are harmless even if they succeed, on any machine. Others are shown to be real where a
# layer is taken out (``sandbox_mutants.py``).
REAL = {
    "read_case_through_proc",
    "read_case_through_links",
    "read_oracle",
    "read_memory",
    "signal_harness",
    "write_outside",
    "unix_sockets",
    "listen",
    "many_descriptors",
    *(attack.name for attack in attack_table.REACHING if attack.name != "slow_others"),
    "read_case.c",
    "namespaces.c",
    "limit_others.c",
    "signal_harness.c",
    "sockets.c",
    "other_numbers.c",
    "read_case.java",
    "start_processes.java",
    "connect.java",
    "include.cc@build",
    "start_processes.javac@build",
    # Channels that do not depend on what else the machine does.
    "loaded_pages_by_cachestat@beside",
    "loaded_pages_by_mincore@next",
    "loaded_pages_by_time@next",
    "cleared_pages@next",
    "looked_up_names@beside",
    "device_times@beside",
}
_TRIALS = 5  # of a channel, on a busy machine


@pytest.mark.long(1)
@pytest.mark.parametrize("name", sorted(REAL))
def test_the_attacks_are_real(name: str) -> None:
    """Without a sandbox they succeed, and the referee sees it."""
    attacks = tuple(attack for attack in ROSTER if attack.name == name)
    if missing := scene.missing_programs(attacks[0]):
        pytest.skip(f"{' and '.join(missing)} not installed")
    if name == "namespaces.c":
        needs_namespaces()
    for _ in range(_TRIALS if attacks[0].receiver else 1):
        (finding,) = referee.play(NoLauncher(), attacks, NoLauncher)  # type: ignore[arg-type]
        if finding.escapes or finding.untested:
            break
    if finding.untested:
        pytest.skip(finding.untested)
    assert finding.escapes, finding.output


@pytest.mark.long(1)
@pytest.mark.parametrize("receiver", ["next", "beside"])
def test_another_trial_that_clears_the_page_cache_is_no_escape(receiver: str) -> None:
    """Two trials on one machine share its page cache: what the other cleared is not this one's."""
    needs(LEVELS[0])

    def clear() -> None:
        with referee.prepared("loaded_pages_by_time"):
            pass

    other = threading.Thread(target=clear)

    class Disturbed(BoxLauncher):
        """Before the sender starts, another trial begins."""

        def start(self, *words: Any, **options: Any) -> Boxed:
            if not other.ident:
                other.start()
                other.join(1)
            return super().start(*words, **options)

    attacks = tuple(a for a in ROSTER if a.name == f"cleared_pages@{receiver}")
    with closing(Disturbed(LEVELS[0], referee.LIMITS)) as launcher:
        make_another = partial(Disturbed, LEVELS[0], referee.LIMITS)
        (finding,) = referee.play(launcher, attacks, make_another)
    other.join()
    assert finding.escapes == ()


@pytest.mark.long(3)
@pytest.mark.parametrize("level", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_doctor_that_is_interrupted_leaves_nothing(
    level: int, open_place: Path, open_room: Path
) -> None:
    """Neither where it was called nor where temporary files lie."""
    if why := why_not(level):
        pytest.skip(why)
    here, temporary = open_place / "here", open_place / "temporary"
    here.mkdir(0o755)
    temporary.mkdir(0o755)
    process = subprocess.Popen(
        [sys.executable, "-B", "-m", "harness.cli", "doctor", "--attack", "--level", str(level)],
        cwd=here,
        env={**os.environ, "PYTHONPATH": str(open_room), "TMPDIR": str(temporary)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    # os.walk() passes over what vanishes while it looks.
    while process.poll() is None and not any("submission" in f for _, f, _ in os.walk(temporary)):
        time.sleep(0.05)
    time.sleep(0.3)  # some attacks are under way
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert (process.returncode, said) == (130, b"gtp-harness: interrupted\n")
    assert names(here) | names(temporary) == set()
    assert list(open_room.glob("gtp-harness-mark-*")) == []


def test_a_scene_leaves_nothing() -> None:
    with AttackStage() as scene:
        assert list(scene.damage()) == []
        folder = scene.folder
        (scene.submission / "new").write_text("x")
        scene.secret.write_text("y")
        changed = [scene.secret, scene.submission / "hard"]  # the same file
        assert list(scene.damage()) == [
            f"made or removed {scene.submission / 'new'}",
            *(f"changed {path}" for path in changed),
        ]
        assert list(scene.damage()) == []
    assert not folder.exists()


# --- fail closed


def test_without_a_sandbox_the_canary_finds_ways_out(tmp_path: Path) -> None:
    (tmp_path / canary.EGG).touch()
    here = Path(canary.__file__)
    words = [sys.executable, "-I", "-S", "-c", here.read_text(), str(here), str(os.getpid()), "2"]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
    said = done.stdout.splitlines()
    ways = {"reads a private file", "signals the harness", "reads the harness's environment"}
    assert {*ways, "opens a socket", "writes outside", "sees other processes"} <= set(said)
    # In a container it has the container's own.
    is_unfiltered = "\nSeccomp:\t0\n" in Path("/proc/self/status").read_text()
    assert ("has no system call filter" in said) == is_unfiltered
    assert said[-1] == "done"


@pytest.mark.parametrize("level", [2, 1])
def test_a_layer_that_is_missing_is_noticed(
    level: int, open_place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same canary, in a box that shows it a file of ours, gets at it."""
    needs(level)
    secret = open_place / "view.py"
    secret.write_text("")
    secret.chmod(0o644)
    monkeypatch.setattr(view, "__file__", str(secret))
    with closing(BoxLauncher(level)) as launcher:
        levels.prove(launcher)
        monkeypatch.setattr(view, "own_folders", lambda: ())
        monkeypatch.setattr(view, "SETTINGS", (*view.SETTINGS, str(open_place)))
        with pytest.raises(levels.EscapeError, match="reads a private file"):
            levels.prove(launcher)


def fake_bubblewrap(folder: Path, body: str) -> str:
    program = folder / "bwrap"
    program.write_text(f"#!{sys.executable}\nimport json, os, sys\n{body}\n")
    program.chmod(0o755)
    folder.chmod(0o755)
    return str(program)


def proof_with(path: str) -> None:
    with closing(BoxLauncher(3)) as launcher:
        launcher._bubblewrap = path
        levels.prove(launcher)


def test_a_bubblewrap_that_fails_is_no_engine_that_fails(tmp_path: Path, bwrap: str) -> None:
    with pytest.raises(SandboxError, match="bwrap: no namespaces today"):
        proof_with(fake_bubblewrap(tmp_path, "sys.exit('bwrap: no namespaces today')"))


def test_a_bubblewrap_without_a_filter_is_noticed(tmp_path: Path, bwrap: str) -> None:
    needs(3)
    body = f"""
at = sys.argv.index("--seccomp")
os.execv({bwrap!r}, ["bwrap", *sys.argv[1:at], *sys.argv[at + 2:]])
"""
    with pytest.raises(levels.EscapeError, match=r"opens a socket.*has no system call filter"):
        proof_with(fake_bubblewrap(tmp_path, body))


def test_what_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    with pytest.raises(SandboxError, match="bubblewrap, which is not installed"):
        BoxLauncher(3)
    monkeypatch.setattr("harness.sandbox.landlock.abi", lambda: 0)
    with pytest.raises(SandboxError, match="needs Landlock"):
        BoxLauncher(1)
    monkeypatch.setattr("harness.sandbox.landlock.machine", lambda: "riscv64")
    with pytest.raises(SandboxError, match="no system call filter for riscv64"):
        BoxLauncher(2)


@pytest.mark.parametrize("level", LEVELS)
def test_a_server_that_was_killed_costs_one_engine_and_no_more(level: int) -> None:
    needs(level)
    with closing(BoxLauncher(level)) as launcher:
        seen = view.of_program(["/bin/sleep"], "/")
        box = launcher.start(seen, ["/bin/sleep", "60"])
        launcher._server.kill()
        with pytest.raises(SandboxError, match="the box server died"):
            box.close()
        for _ in range(2):
            end = launcher.start(seen, ["/bin/sleep", "0"]).close()
            assert end.hit is None
