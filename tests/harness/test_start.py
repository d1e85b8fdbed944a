"""The start of both commands: what is inherited, and Ctrl-C at any moment of it."""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from harness.core.signals import ending_on_signals
from tests.harness.test_sandbox_boxes import needs

pytestmark = pytest.mark.processes

ROOT = Path(__file__).resolve().parents[2]

# Runs a command's main() and sends itself SIGINT when so many modules have been asked for since.
INTERRUPTED_AT = """
import os, signal, sys
at, module, *sys.argv = sys.argv[1:]
main = __import__(module, fromlist=["main"]).main
seen = 0
def hook(event, _arguments):
    global seen
    seen += event == "import"
    if event == "import" and seen == int(at):
        os.kill(os.getpid(), signal.SIGINT)
sys.addaudithook(hook)
sys.exit(main())
"""
COMMANDS = [
    ("oracle.cli", "gtp-oracle", "gtp"),
    ("harness.cli", "gtp-harness", "grade", "--help"),
    ("harness.cli", "gtp-harness", "run", "/nowhere/engine", "nothing.gtp"),
]


def run_command(words: list[str]) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        words, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=60
    )


@pytest.mark.parametrize("command", COMMANDS, ids=lambda one: " ".join(one[1:]))
def test_ctrl_c_while_a_command_starts_prints_no_traceback(command):
    code = [sys.executable, "-c", INTERRUPTED_AT]
    ended = 0
    for at in (1, 3, 8, 21, 55):
        done = run_command([*code, str(at), *command])
        assert b"Traceback" not in done.stderr, (at, done.stderr)
        if done.returncode == 130:
            ended += 1
            assert done.stderr.endswith(f"{command[1]}: interrupted\n".encode()), at
    assert ended >= 2


# Runs a command's main() again and again, each time with SIGINT at another step of it: a line, a
# call or a return. Prints the exit status of each; 99: it was over before.
INTERRUPTED_AT_STEP = """
import os, signal, sys
from pathlib import Path
module, *sys.argv = sys.argv[1:]
main = __import__(module, fromlist=["main"]).main
watched = {"interrupts.py", "streams.py", Path(sys.modules[module].__file__).name}
def run(at):
    seen, begun = 0, False
    def step(frame, event, _argument):
        nonlocal seen, begun
        if Path(frame.f_code.co_filename).name not in watched:
            return None
        begun = begun or (frame.f_code.co_name == "_leave_at_once" and event == "return")
        seen += begun
        if begun and seen == at:
            os.kill(os.getpid(), signal.SIGINT)
        return step
    sys.settrace(step)
    status = main()
    sys.settrace(None)
    return status if seen >= at else 99
status = at = 0
while status != 99:
    at += 1 if at < 20 else 4
    if not (child := os.fork()):
        os.dup2(2, 1)
        sys.exit(run(at))
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    print(status)
"""


@pytest.mark.parametrize("module", ["oracle.cli", "harness.cli"])
def test_ctrl_c_at_each_step_of_a_command_prints_no_traceback(module):
    done = run_command([sys.executable, "-c", INTERRUPTED_AT_STEP, module, "command", "--version"])
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    *ended, last = map(int, done.stdout.split())
    assert last == 99
    assert set(ended) == {130}
    assert len(ended) > 15


# All of ours that Python loads before the first line that it executes for us.
LOADED_FIRST = ("harness/__init__.py", "harness/cli/__init__.py", "oracle/__init__.py")
LOADED_FIRST += ("oracle/interrupts.py", "harness/cli/__main__.py")
# And what is done until Ctrl-C is heeded.
DONE_FIRST = ("<module>", "program", "main", "answered", "_leave_at_once", "_Leave", "__init__")
DONE_FIRST += ("__getattr__",)  # of a package whose module is imported


def interrupted_after(milliseconds: int) -> tuple[int, str]:
    """Send Ctrl-C to a command that has had so much processor time, on a machine however busy."""
    with subprocess.Popen(
        [sys.executable, "-m", "harness.cli", "run", "--help"],
        cwd=ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        times = Path(f"/proc/{process.pid}/schedstat")
        while process.poll() is None and int(times.read_text().split()[0]) < milliseconds * 1e6:
            time.sleep(0.0005)
        process.send_signal(signal.SIGINT)
        return process.wait(60), process.stderr.read().decode()


def test_ctrl_c_at_any_moment_prints_no_traceback_but_pythons_own():
    """While Python starts and loads its own modules, the traceback is its own, not ours."""
    heeded = 0
    for milliseconds in range(1, 41, 3):
        status, said = interrupted_after(milliseconds)
        if "Traceback" in said:
            # A virtual environment within the project's folder is not ours.
            ours = re.findall(
                rf'File "{ROOT}/((?:harness|oracle)/[^"]+)", line \d+, in (\S+)', said
            )
            assert all(place in LOADED_FIRST and name in DONE_FIRST for place, name in ours), said
        elif said:
            assert (status, said) == (130, "gtp-harness: interrupted\n")
            heeded += 1
    assert heeded


ENDS = [  # what is there at the end, and what it still says
    ("import atexit; atexit.register(print, 'at exit')", b"at exit\n"),
    (
        "import threading, time; threading.Thread(target=lambda: time.sleep(0.3) or print('done'))"
        ".start()",
        b"done\n",
    ),
    ("import sys; sys.setprofile(lambda *_: None)", b""),
]


@pytest.mark.parametrize(("before", "said"), ENDS)
def test_the_end_of_the_program_leaves_nothing_out(before, said):
    code = f"{before}; import sys; sys.argv = ['gtp-harness', '--version']"
    done = run_command(
        [sys.executable, "-c", f"{code}; from harness.cli import program; program()"]
    )
    first, _, rest = done.stdout.partition(b"\n")
    assert (done.returncode, first[:11], rest, done.stderr) == (0, b"gtp-harness", said, b"")


@pytest.mark.parametrize("module", ["harness.cli", "oracle.cli"])
def test_little_is_loaded_before_ctrl_c_is_heeded(module):
    """Nothing but Python's own start can print a traceback of it."""
    code = f"import sys; old = set(sys.modules); import {module}; print(*set(sys.modules) - old)"
    loaded = set(run_command([sys.executable, "-c", code]).stdout.decode().split())
    assert loaded <= {
        "harness", "harness.cli", "oracle", "oracle.cli", "oracle.errors", "oracle.interrupts",
        "_signal", "__future__",
    }  # fmt: skip


@pytest.mark.parametrize(("report", "are_pages"), [("--json", False), ("--output", True)])
def test_only_a_run_that_writes_pages_loads_templates(tmp_path, report, are_pages):
    case = tmp_path / "one.gtp"
    case.write_text("1 name\n#? [.*]\n")
    words = ["gtp-harness", "run", report, str(tmp_path / "report"), "true", str(case)]
    code = f"import sys; from harness.cli import main; sys.argv = {words}; status = main()"
    code += "; print(status, 'harness.report.html.templates' in sys.modules)"
    done = run_command([sys.executable, "-c", code])
    assert done.stdout.decode().splitlines()[-1] == f"2 {are_pages}", done.stderr
    assert (tmp_path / "report").exists()


# --- what is inherited ---

# A process that ignores all it can and blocks some, and becomes another program.
STUBBORN = """
import os, signal, sys
for number in signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}:
    try:
        signal.signal(number, signal.SIG_IGN)
    except OSError:
        pass
signal.pthread_sigmask(signal.SIG_BLOCK, [1, 2, 10, 15, 17])
os.execv(sys.argv[1], sys.argv[1:])
"""
NOHUP = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)
os.execv(sys.argv[1], sys.argv[1:])
"""
DEADLY = (1, 2, 3, 6, 10, 12, 13, 14, 15, 24, 25)
# A shell for each signal sends it to itself, and should not live to tell.
SURVIVED = f"""for n in {" ".join(map(str, DEADLY))}; do sh -c 'kill -'$n' $$; echo '$n; done"""
ENGINE = f"""#!/bin/sh
ulimit -c 0
while read -r line; do
  case $line in
    quit) printf '= \n\n'; exit;;
    *) printf '= %s\n\n' "$({SURVIVED})";;
  esac
done
"""
BUILD = """
import sys
from pathlib import Path
from harness.assignments import assignment, build_steps
steps = assignment.BuildSteps((("sh", "-c", sys.argv[3]),), (), 60.0, 1 << 28, 4096)
found = assignment.find("go-scoring")._replace(build=steps)
print(build_steps.build(found, Path(sys.argv[1]), sys.argv[2]))
"""


def stubborn(*words: str, cwd: Path = ROOT, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", STUBBORN, sys.executable, *words],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        **options,
    )


@pytest.fixture
def place():
    """A folder that an engine of any user may read."""
    with tempfile.TemporaryDirectory(prefix="gtp-harness-start-") as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.mark.parametrize("level", ("off", "3", "1"))
def test_an_engine_begins_with_default_signals(level, place):
    needs(int(level)) if level != "off" else None
    engine, case = place / "engine", place / "a.gtp"
    engine.write_text(ENGINE)
    engine.chmod(0o755)
    case.write_text("1 signals\n#? []\n" * 2)
    words = ("-m", "harness.cli", "run", "--sandbox", level, "--jobs", "1", "--report")
    done = stubborn(*words, str(engine), str(case))
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert done.returncode == 0


@pytest.mark.parametrize("level", ("off", "3"))
def test_a_build_step_begins_with_default_signals(level, place):
    needs(int(level)) if level != "off" else None
    (place / "assignment1").mkdir()
    done = stubborn(
        "-c", BUILD, str(place), level, f"ulimit -c 0; ({SURVIVED}) 2>/dev/null; echo built"
    )
    assert "output='built\\n'" in done.stdout, done.stdout + done.stderr


def test_sigterm_ends_a_command_that_ignores_ctrl_c(tmp_path):
    """As after ``nohup … &``: by convention Ctrl-C stays ignored, and nothing runs on for ever."""
    engine, case = tmp_path / "engine", tmp_path / "a.gtp"
    answers = "for n in 1 2 3 4; do read line; printf '= \\n\\n'; done; exec sleep 60"
    engine.write_text(f"#!/bin/sh\n{answers}\n")
    engine.chmod(0o755)
    case.write_text("1 a\n#? []\n2 b\n#? []\n")
    words = ["run", "--lockstep", "-long", str(engine), str(case)]
    with subprocess.Popen(
        [sys.executable, "-c", NOHUP, sys.executable, "-m", "harness.cli", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        try:
            assert process.stdout.readline() == b"1 passed\n"
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
            assert process.poll() is None
            process.send_signal(signal.SIGTERM)
            assert b"2 not run\n" in process.communicate(timeout=60)[0]
            assert process.returncode == 128 + signal.SIGTERM
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_within_a_finalizer_is_not_lost(number):
    """Python can only print what is raised there, as in callbacks of the garbage collector."""

    class Late:
        def __del__(self):
            signal.raise_signal(number)

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt), ending_on_signals():
        Late()
        time.sleep(30)
    assert time.monotonic() - began < 20
