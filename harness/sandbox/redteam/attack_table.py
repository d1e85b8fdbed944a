"""The roster of attacks: each with its program, and the layer that is to stop it."""

from collections.abc import Iterator
from typing import Any, NamedTuple

PYTHON = ("attacks", "holding", "reaching", "channels")


class Attack(NamedTuple):
    """One hostile program, or two where the second one profits from the first."""

    program: str  # a function of the file ``source``
    title: str  # follows "an engine that tries to"
    layer: dict[int, str]  # level → what stops it
    then: str = ""  # the program that runs in the next box
    leaks: frozenset[int] = frozenset()  # levels that cannot hold it, and say so
    patience: float = 8.0  # seconds until it is ended
    source: str = "attacks"  # the file beside this one without its ending, or a language
    cpu: float = 20.0  # the limit of CPU time, in seconds
    at: str = "run"  # or "build": the same program as a build step, which may write
    receiver: str = ""  # of a channel: "next", in the next box, or "beside", at the same time
    bits: int = 256  # that are sent through a channel

    @property
    def name(self) -> str:
        """By which the threat model knows it."""
        source = "" if self.source in PYTHON else f".{self.source}"
        where = self.receiver or ("" if self.at == "run" else self.at)
        return f"{self.program}{source}{where and '@'}{where}"


def at_build(attack: Attack, layer: str = "") -> Attack:
    """Return the same attack as a build step; ``layer``: what stops it there, if not the same."""
    layers = dict.fromkeys((3, 2, 1), layer) if layer else attack.layer
    return attack._replace(at="build", title=f"{attack.title} (build)", layer=layers)


_ALL = (3, 2, 1)


def _everywhere(layer: str) -> dict[int, str]:
    return dict.fromkeys(_ALL, layer)


_CALLS = _everywhere("seccomp")
_NOTHING = _everywhere("nothing: both see the same kernel")
_OVER = _everywhere("nothing of it is left")
_TIMES = {3: "read-only mounts", 2: "read-only mounts", 1: "nothing: files are the machine's"}
_NUMBERS = {3: "pid namespace", 2: "pid namespace", 1: "nothing: numbers are the machine's"}
_DISK = {3: "a tmpfs of its own", 2: "a tmpfs of its own", 1: "nothing: the disk is the machine's"}


def _lasting(
    program: str, title: str, layer: dict[int, str], leaks: tuple[int, ...] = (), bits: int = 256
) -> Iterator[Attack]:
    """Yield a channel in both ways; ``leaks``: the levels that do not hold it."""
    for receiver, where in (("next", "in the next box"), ("beside", "in a box beside")):
        heard = f"be heard {where} by {title}"
        channel = Attack(program, heard, layer, leaks=frozenset(leaks), source="channels")
        yield channel._replace(receiver=receiver, bits=bits)


def _momentary(*channel: Any) -> Iterator[Attack]:
    """Yield a channel through what shows only while it happens: then nothing of it is left."""
    in_next, beside = _lasting(*channel)
    yield from (in_next._replace(layer=_OVER, leaks=frozenset()), beside)


# The channels between runs, each tried in two successive boxes and in two at the same time.
CHANNELS = (
    *_lasting("loaded_pages_by_preadv2", "pages in memory, read", _CALLS),
    *_lasting("loaded_pages_by_cachestat", "pages in memory, counted", _CALLS),
    *_lasting("loaded_pages_by_mincore", "pages in memory, mapped", _CALLS),
    *_lasting("cleared_pages", "pages taken out of memory", _CALLS),
    *_lasting("loaded_pages_by_time", "pages in memory, timed", _NOTHING, _ALL),
    *_lasting("read_pages", "pages in a cache, timed", _NOTHING, _ALL),
    *_lasting("looked_up_names", "names looked up, timed", _NOTHING, _ALL),
    *_lasting("access_times", "times of the last access", _TIMES, (1,), 64),
    *_lasting("device_times", "times of devices", _CALLS, (), 18),
    *_momentary("shared_futex", "waking who waits at a file", _NOTHING, _ALL),
    *_momentary("free_disk", "how much disk is free", _DISK, (1,), 40),
    *_momentary("process_numbers", "numbers of processes", _NUMBERS, (1,), 40),
    *_momentary("pipe_numbers", "numbers of pipes", _NOTHING, _ALL, 40),
    *_momentary("machine_counters", "counters of the machine", _NOTHING, _ALL, 40),
    *_momentary("busy_processors", "how busy processors are", _NOTHING, _ALL, 40),
)


_COUNTED = "control group or the count of memory"


def _row(program: str, title: str, layer: str = _COUNTED, **levels: str) -> Attack:
    layers = {level: levels.get(f"level{level}", layer) for level in (3, 2, 1)}
    return Attack(program, f"hold memory in {title}", layers, source="holding", patience=9)


_ITS_FOLDER = "the watch on its folder"
MEMORY_HOLDERS = (
    _row("anonymous", "pages, as fast as it can"),
    _row("shared_cut_off", "shared memory that is cut off"),
    _row("shared_out_of_sight", "shared memory out of sight"),
    _row("thread_that_stays", "a process without its first thread"),
    _row("locked", "locked pages"),
    _row("huge_pages", "huge pages"),
    _row("page_tables", "page tables"),
    _row("mappings", "thousands of mappings"),
    _row("not_dumpable", "processes that hide", "seccomp"),
    _row("unreadable_program", "programs that cannot be read", level1=_ITS_FOLDER),
    _row("pipes", "pipes"),
    _row("large_pipes", "large pipes", "seccomp"),
    _row("pipes_with_huge_pages", "pipes with pieces of huge pages", "seccomp"),
    _row("spliced_files", "pipes with pages of files", "seccomp"),
    _row("socket_pairs", "pairs of sockets"),
    _row("large_sockets", "pairs of large sockets", "seccomp"),
    _row("sockets_under_way", "sockets that are under way in others", "seccomp"),
    _row("datagram_pairs", "pairs of datagram sockets", "seccomp"),
    _row("threads_with_descriptors", "descriptors of single threads", "seccomp"),
    _row("memory_files", "files in memory", "seccomp"),
    _row("secret_memory", "secret memory", "seccomp"),
    _row("shared_segments", "System V segments", "seccomp"),
    _row("message_queues", "message queues", "seccomp"),
    _row("keys", "keyrings", "seccomp"),
    _row("unlinked_files", "files without a name", "size of its tmpfs", level1=_ITS_FOLDER),
    _row("shared_files", "files of /dev/shm", "size of its tmpfs", level1=_ITS_FOLDER),
    _row("small_files", "many small files", "the count of files", level1=_ITS_FOLDER),
    _row("folders", "many folders", "the count of files", level1=_ITS_FOLDER),
    _row("attributes", "extended attributes", "seccomp"),
    _row("access_lists", "access lists", "seccomp"),
    _row("epolls", "lists of epolls"),
    _row("changes", "noted changes of files", "seccomp"),
    _row("locks", "locks on files", "seccomp"),
    _row("rule_sets", "Landlock rules", "seccomp"),
    _row("futex_table", "a table of futexes", "seccomp"),
    _row("rings", "io_uring", "seccomp"),
    _row("programs", "BPF maps", "seccomp"),
    _row("open_files", "buffers of open files"),
    _row("queued_signals", "queued signals", "resource limit"),
)


_FILES = {3: "mount namespace", 2: "mount namespace", 1: "Landlock"}
_PROC = {3: "pid namespace", 2: "pid namespace", 1: "Landlock"}
_SIGNALS = {3: "pid namespace", 2: "pid namespace", 1: "Landlock scope or seccomp"}
_OTHERS = {3: "pid namespace, seccomp", 2: "pid namespace, seccomp", 1: "seccomp"}
_NO_RIGHTS = _everywhere("no capabilities")
_MEMORY = _everywhere("control group or the watch on the tree")
_MULTIPLY = _everywhere("RLIMIT_NPROC and the watch on the tree")
_READ_ONLY = {3: "read-only mounts", 2: "read-only mounts, Landlock", 1: "Landlock, seccomp"}
_LIMIT = _everywhere("resource limit")
_PATIENCE = 30.0  # seconds: a Java machine takes long to start on a busy one


def _c(program: str, title: str, layer: dict[int, str]) -> Attack:
    return Attack(program, f"{title} (C)", layer, source="c")


def _java(program: str, title: str, layer: dict[int, str], source: str = "java") -> Attack:
    return Attack(program, f"{title} (Java)", layer, source=source, patience=_PATIENCE)


# Attacks in C and Java, which make the system calls that Python wraps away.
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
    _c("page_zero", "map address 0, by personality as well", _NO_RIGHTS),
)
_IN_JAVA = (
    _java("read_case", "read a private case file by all classes", _FILES),
    _java("list_private", "list and watch private folders", _FILES),
    _java("start_processes", "start 100 processes", _MULTIPLY),
    _java("start_threads", "start 1,000 threads", _LIMIT),
    _java("connect", "connect by TCP, UDP and Unix sockets", _CALLS),
    _java("other_processes", "find, attach to and end other processes", _PROC),
    _java("direct_memory", "hold 1 GiB outside the heap", _MEMORY),
    _java("write_outside", "write files outside", _READ_ONLY),
)
NATIVE_ATTACKS = (
    *_IN_C,
    _c("shared_areas", "share 1 GiB among eight processes", _MEMORY),
    *_IN_JAVA,
    *map(at_build, _IN_C),
    at_build(Attack("include", "include a private file (C)", _FILES, source="cc")),
    at_build(_java("at_compile_time", "read, reach, write from a processor", _FILES, "javac")),
    at_build(_java("start_processes", "start 100 from a processor", _MULTIPLY, "javac")),
)


_RIGHTS = _everywhere("no new privileges")
_SCRATCH = {3: "size of its tmpfs", 2: "size of its tmpfs", 1: "the watch on its folder"}
_GONE = {3: "private tmpfs", 2: "private tmpfs", 1: "a new folder for each (Landlock)"}
_ENDING = {3: "end of the pid namespace", 2: "end of the pid namespace", 1: "subreaper's sweep"}
_CLOSED = _everywhere("all but three are closed")
_READER = _everywhere("the harness stops reading")
_VIEW = _everywhere("what is shown is not told by a submission")
_LAUNCHER = {3: "a mask over /proc/1", 2: "a mask over /proc/1", 1: "Landlock"}
_CLOCK = _everywhere("the clock of the whole tree")
_COUNT = _everywhere("the count of disk")
_REMOVED = _everywhere("removal without paths")

_FIRST = (
    Attack("read_case_by_name", "read a private case file by name", _FILES),
    Attack("read_case_through_proc", "read it through /proc/*/root, cwd and fd", _PROC),
    Attack("read_case_through_links", "read it through symbolic and hard links", _FILES),
    Attack("read_oracle", "import the harness and the oracle", _FILES),
    Attack("read_system_secrets", "read the machine's and users' own files", _FILES),
    Attack("read_environment", "read the harness's environment", _PROC),
    Attack("read_command_lines", "read other command lines", _PROC),
    Attack("read_memory", "open the harness's memory", _PROC),
    Attack("read_memory_by_call", "read memory and take descriptors by system call", _CALLS),
    Attack("use_descriptors", "use descriptors that the harness left open", _CLOSED),
    Attack("trace", "trace the harness (ptrace)", _CALLS),
    Attack(
        "read_metadata",
        "see that a private file exists, and its size",
        _FILES | {1: "nothing: Landlock does not see stat"},
        leaks=frozenset({1}),
    ),
    Attack("signal_harness", "signal the harness", _SIGNALS),
    Attack("signal_everybody", "kill every process it can (kill -1)", _SIGNALS),
    Attack("fork_bomb", "start 200 processes", _MULTIPLY),
    Attack("thread_bomb", "start 1,000 threads", _LIMIT),
    Attack("run_away", "fork faster than it is killed", _ENDING),
    Attack("daemonise", "leave a daemon behind", _ENDING),
    Attack("stop_itself", "stop itself (SIGSTOP)", _ENDING, patience=1),
    Attack("close_everything", "close everything and live on", _ENDING, patience=1),
    Attack("many_descriptors", "open 10,000 descriptors", _LIMIT),
    Attack("memory_hog", "fill 1.2 GiB of memory", _MEMORY),
    Attack("memory_hogs", "fill 1 GiB in eight processes", _MEMORY),
    Attack("memory_unmapped", "fill 1 GiB of memory out of sight", _MEMORY),
    Attack("memory_in_file", "fill 1 GiB in memory files", _CALLS),
    Attack("disk_hog", "write 200 MB", _SCRATCH),
    Attack("large_file", "write one file of 200 MB", _SCRATCH),
    Attack("inode_hog", "make 30,000 files", _SCRATCH),
    Attack("long_lines", "print lines of 100 MB without end", _READER),
    Attack("endless_errors", "write to standard error without end", _READER),
    Attack("tcp", "connect by TCP, here and beyond", _CALLS),
    Attack("udp", "send UDP datagrams", _CALLS),
    Attack("unix_sockets", "reach Unix sockets, abstract and by path", _CALLS),
    Attack("other_sockets", "open raw, packet, netlink and vsock sockets", _CALLS),
    Attack("listen", "listen for connections", _CALLS),
    Attack("write_outside", "write files outside", _READ_ONLY),
    Attack("write_case", "change its case file and its own program", _READ_ONLY),
    Attack("write_kernel_settings", "open the kernel's settings for writing", _READ_ONLY),
    Attack("open_devices", "open /dev/tty and other devices", _FILES),
    Attack("type_on_terminal", "type on the terminal (TIOCSTI)", _CALLS),
    Attack("set_uid", "gain rights through set-uid programs", _RIGHTS),
    Attack("namespaces", "make or enter namespaces", _CALLS),
    Attack("mounts", "mount, or change the root", _CALLS),
    Attack("kernel_holes", "use io_uring, bpf, perf, userfaultfd", _CALLS),
    Attack("leave_files", "leave files for the next engine", _GONE, "find_files"),
    Attack("leave_ipc", "leave System V and POSIX messages", _CALLS, "find_ipc"),
    Attack("leave_key", "leave a key in a keyring", _CALLS, "find_key"),
)


_SPENDING = tuple(
    Attack(program, f"compute in {title}", _CLOCK, source="reaching", patience=9, cpu=1)
    for program, title in (
        ("ignored_children", "children that nobody waits for"),
        ("short_children", "short children that nobody waits for"),
        ("unwaited_children", "children without a SIGCHLD"),
        ("adopted_children", "children of others"),
        ("many_threads", "a process without its first thread"),
    )
)
_CHDIR = _FILES | {1: "nothing: Landlock does not see chdir"}
REACHING = tuple(
    Attack(
        program, title, layer, source="reaching", leaks=frozenset({1} if layer is _CHDIR else ())
    )
    for program, title, layer in (
        ("read_what_its_first_line_names", "read what its first line names", _VIEW),
        ("read_what_its_settings_name", "read what its pyvenv.cfg names", _VIEW),
        ("read_mounts", "see the machine's mounts and sockets", _FILES),
        ("read_counters", "see counters that others can set", _FILES),
        ("enter_private_folder", "stand in a private folder", _CHDIR),
        ("watch_private_folder", "watch what others do with files", _CALLS),
        ("lock_shown_files", "tell others something by locks on shown files", _CALLS),
        ("see_launcher", "read what /proc tells of what started it", _LAUNCHER),
        ("set_up_launcher", "change that through /proc", _LAUNCHER),
        ("limit_others", "set the limits of the harness", _OTHERS),
        ("slow_others", "take the processors from the harness", _OTHERS),
        ("take_slots", "take the machine's slots for input and output", _CALLS),
        ("hoard_timers", "make 5,000 timers", _LIMIT),
    )
)
_AT_BUILD_ALONE = tuple(
    Attack(program, f"{title} (build)", layer, source="reaching", at="build")
    for program, title, layer in (
        ("unlinked_disk", "use disk in files without a name", _COUNT),
        ("mapped_disk", "use disk in files that are but mapped", _COUNT),
        ("shut_folders", "use disk in folders that are shut", _COUNT),
        ("deep_disk", "use disk beyond the longest path", _COUNT),
        ("reserved_disk", "reserve disk without writing", _CALLS),
        ("deep_folders", "leave folders 1,500 deep", _REMOVED),
        ("odd_names", "leave folders that nobody may enter", _REMOVED),
    )
)


# Run as build steps too, which may write into a folder: all else must hold as for engines.
_AT_BUILD = """
    read_case_by_name read_case_through_proc read_case_through_links read_oracle
    read_system_secrets read_environment read_command_lines read_memory read_memory_by_call
    use_descriptors trace signal_harness signal_everybody run_away daemonise thread_bomb
    memory_hogs tcp udp unix_sockets listen write_outside write_case write_kernel_settings
    open_devices type_on_terminal set_uid namespaces mounts kernel_holes
    leave_ipc leave_key socket_pairs thread_that_stays futex_table ignored_children
    read_what_its_first_line_names read_what_its_settings_name read_mounts watch_private_folder
    lock_shown_files see_launcher set_up_launcher limit_others slow_others take_slots hoard_timers
"""
_INTO_FOLDER = ("disk_hog", "large_file", "inode_hog", "leave_files")
_FOLDER = "a folder of its own, counted and removed"
_AS_ENGINES = (*_FIRST, *MEMORY_HOLDERS, *_SPENDING, *REACHING)
ROSTER = (
    *_AS_ENGINES,
    *(at_build(attack) for attack in _AS_ENGINES if attack.program in _AT_BUILD.split()),
    *(at_build(attack, _FOLDER) for attack in _FIRST if attack.program in _INTO_FOLDER),
    *_AT_BUILD_ALONE,
    *NATIVE_ATTACKS,
    *CHANNELS,
)
