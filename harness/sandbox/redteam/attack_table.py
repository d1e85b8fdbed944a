"""The attacks of the red team, and what is to stop each at the three levels."""

from __future__ import annotations

from harness.sandbox.redteam import channel_roster, holding_roster, native_roster
from harness.sandbox.redteam.attack import Attack, at_build

_FILES = {3: "mount namespace", 2: "mount namespace", 1: "Landlock"}
_PROC = {3: "pid namespace", 2: "pid namespace", 1: "Landlock"}
_SIGNALS = {3: "pid namespace", 2: "pid namespace", 1: "Landlock scope or seccomp"}
_CALLS = dict.fromkeys((3, 2, 1), "seccomp")
_RIGHTS = dict.fromkeys((3, 2, 1), "no new privileges")
_READ_ONLY = {3: "read-only mounts", 2: "read-only mounts, Landlock", 1: "Landlock, seccomp"}
_SCRATCH = {3: "size of its tmpfs", 2: "size of its tmpfs", 1: "the watch on its folder"}
_GONE = {3: "private tmpfs", 2: "private tmpfs", 1: "a new folder for each (Landlock)"}
_MEMORY = dict.fromkeys((3, 2, 1), "control group or the watch on the tree")
_MULTIPLY = dict.fromkeys((3, 2, 1), "RLIMIT_NPROC and the watch on the tree")
_ENDING = {3: "end of the pid namespace", 2: "end of the pid namespace", 1: "subreaper's sweep"}
_LIMIT = dict.fromkeys((3, 2, 1), "resource limit")
_CLOSED = dict.fromkeys((3, 2, 1), "all but three are closed")
_READER = dict.fromkeys((3, 2, 1), "the harness stops reading")
_VIEW = dict.fromkeys((3, 2, 1), "what is shown is not told by a submission")
_OTHERS = {3: "pid namespace, seccomp", 2: "pid namespace, seccomp", 1: "seccomp"}
_LAUNCHER = {3: "a mask over /proc/1", 2: "a mask over /proc/1", 1: "Landlock"}
_CLOCK = dict.fromkeys((3, 2, 1), "the clock of the whole tree")
_COUNT = dict.fromkeys((3, 2, 1), "the count of disk")
_REMOVED = dict.fromkeys((3, 2, 1), "removal without paths")

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


# --- ways to spend what is limited --------------------------------------------------------------


def _make_spending(program: str, title: str) -> Attack:
    return Attack(program, f"compute in {title}", _CLOCK, source="spending", patience=9, cpu=1)


_SPENDING = (
    _make_spending("ignored_children", "children that nobody waits for"),
    _make_spending("short_children", "short children that nobody waits for"),
    _make_spending("unwaited_children", "children without a SIGCHLD"),
    _make_spending("adopted_children", "children of others"),
    _make_spending("many_threads", "a process without its first thread"),
)


# --- through what a box shows, and on what processes share ---------------------------------------


def _make_reaching(
    program: str, title: str, layer: dict[int, str], leaks: tuple[int, ...] = ()
) -> Attack:
    return Attack(program, title, layer, leaks=frozenset(leaks), source="reaching")


REACHING = (
    _make_reaching("read_what_its_first_line_names", "read what its first line names", _VIEW),
    _make_reaching("read_what_its_settings_name", "read what its pyvenv.cfg names", _VIEW),
    _make_reaching("read_mounts", "see the machine's mounts and sockets", _FILES),
    _make_reaching("read_counters", "see counters that others can set", _FILES),
    _make_reaching(
        "enter_private_folder",
        "stand in a private folder",
        _FILES | {1: "nothing: Landlock does not see chdir"},
        leaks=(1,),
    ),
    _make_reaching("watch_private_folder", "watch what others do with files", _CALLS),
    _make_reaching("lock_shown_files", "tell others something by locks on shown files", _CALLS),
    _make_reaching("see_launcher", "read what /proc tells of what started it", _LAUNCHER),
    _make_reaching("set_up_launcher", "change that through /proc", _LAUNCHER),
    _make_reaching("limit_others", "set the limits of the harness", _OTHERS),
    _make_reaching("slow_others", "take the processors from the harness", _OTHERS),
    _make_reaching("take_slots", "take the machine's slots for input and output", _CALLS),
    _make_reaching("hoard_timers", "make 5,000 timers", _LIMIT),
)


# --- build steps on disk, and on what clears away after them -------------------------------------


def _make_breaking(program: str, title: str, layer: dict[int, str]) -> Attack:
    return Attack(program, f"{title} (build)", layer, source="breaking", at="build")


_BREAKING = (
    _make_breaking("unlinked_disk", "use disk in files without a name", _COUNT),
    _make_breaking("mapped_disk", "use disk in files that are but mapped", _COUNT),
    _make_breaking("shut_folders", "use disk in folders that are shut", _COUNT),
    _make_breaking("deep_disk", "use disk beyond the longest path", _COUNT),
    _make_breaking("reserved_disk", "reserve disk without writing", _CALLS),
    _make_breaking("deep_folders", "leave folders 1,500 deep", _REMOVED),
    _make_breaking("odd_names", "leave folders that nobody may enter", _REMOVED),
)


# --- all of them --------------------------------------------------------------------------------

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
_AS_ENGINES = (
    *_FIRST,
    *holding_roster.ROSTER,
    *_SPENDING,
    *REACHING,
)
ROSTER = (
    *_AS_ENGINES,
    *(at_build(attack) for attack in _AS_ENGINES if attack.program in _AT_BUILD.split()),
    *(at_build(attack, _FOLDER) for attack in _FIRST if attack.program in _INTO_FOLDER),
    *_BREAKING,
    *native_roster.ROSTER,
    *channel_roster.ROSTER,
)
