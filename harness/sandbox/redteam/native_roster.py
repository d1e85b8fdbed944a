"""Attacks in C and Java, which make the system calls that Python wraps away; what stops each."""

from __future__ import annotations

from harness.sandbox.redteam.attack import Attack, at_build

_FILES = {3: "mount namespace", 2: "mount namespace", 1: "Landlock"}
_PROC = {3: "pid namespace", 2: "pid namespace", 1: "Landlock"}
_SIGNALS = {3: "pid namespace", 2: "pid namespace", 1: "Landlock scope or seccomp"}
_OTHERS = {3: "pid namespace, seccomp", 2: "pid namespace, seccomp", 1: "seccomp"}
_CALLS = dict.fromkeys((3, 2, 1), "seccomp")
_RIGHTS = dict.fromkeys((3, 2, 1), "no capabilities")
_MEMORY = dict.fromkeys((3, 2, 1), "control group or the watch on the tree")
_MULTIPLY = dict.fromkeys((3, 2, 1), "RLIMIT_NPROC and the watch on the tree")
_READ_ONLY = {3: "read-only mounts", 2: "read-only mounts, Landlock", 1: "Landlock, seccomp"}
_PATIENCE = 30.0  # seconds: a Java machine takes long to start on a busy one


def _c(program: str, title: str, layer: dict[int, str]) -> Attack:
    return Attack(program, f"{title} (C)", layer, source="c")


def _java(program: str, title: str, layer: dict[int, str], source: str = "java") -> Attack:
    return Attack(program, f"{title} (Java)", layer, source=source, patience=_PATIENCE)


_IN_C = (
    _c("read_case", "read a private case file by openat of all", _FILES),
    _c("namespaces", "make or enter namespaces, by clone3 as well", _CALLS),
    _c("mounts", "mount by old and new calls", _CALLS),
    _c("trace", "trace, read and write the harness's memory", _CALLS),
    _c("io_uring", "use io_uring", _CALLS),
    _c("limit_others", "set others' limits by prlimit64", _OTHERS),
    _c("slow_others", "change others' scheduling by seven calls", _OTHERS),
    _c("signal_harness", "signal the harness by eight calls", _SIGNALS),
    _c("sockets", "open sockets of all families and kinds", _CALLS),
    _c("other_numbers", "make 32-bit, x32 and high-numbered calls", _CALLS),
    _c("page_zero", "map address 0, by personality as well", _RIGHTS),
)
_IN_JAVA = (
    _java("read_case", "read a private case file by all classes", _FILES),
    _java("list_private", "list and watch private folders", _FILES),
    _java("start_processes", "start 100 processes", _MULTIPLY),
    _java("start_threads", "start 1,000 threads", dict.fromkeys((3, 2, 1), "resource limit")),
    _java("connect", "connect by TCP, UDP and Unix sockets", _CALLS),
    _java("other_processes", "find, attach to and end other processes", _PROC),
    _java("direct_memory", "hold 1 GiB outside the heap", _MEMORY),
    _java("write_outside", "write files outside", _READ_ONLY),
)
ROSTER = (
    *_IN_C,
    _c("shared_areas", "share 1 GiB among eight processes", _MEMORY),
    *_IN_JAVA,
    *map(at_build, _IN_C),
    at_build(Attack("include", "include a private file (C)", _FILES, source="cc")),
    at_build(_java("at_compile_time", "read, reach, write from a processor", _FILES, "javac")),
    at_build(_java("start_processes", "start 100 from a processor", _MULTIPLY, "javac")),
)
