"""The ways to hold memory, and what counts or refuses each."""

from __future__ import annotations

from harness.sandbox.redteam.attack import Attack

_COUNTED = "control group or the count of memory"


def _row(program: str, title: str, layer: str = _COUNTED, **levels: str) -> Attack:
    layers = {level: levels.get(f"level{level}", layer) for level in (3, 2, 1)}
    return Attack(program, f"hold memory in {title}", layers, source="holding", patience=9)


_FOLDER = "the watch on its folder"
ROSTER = (
    _row("anonymous", "pages, as fast as it can"),
    _row("shared_cut_off", "shared memory that is cut off"),
    _row("shared_out_of_sight", "shared memory out of sight"),
    _row("thread_that_stays", "a process without its first thread"),
    _row("locked", "locked pages"),
    _row("huge_pages", "huge pages"),
    _row("page_tables", "page tables"),
    _row("mappings", "thousands of mappings"),
    _row("not_dumpable", "processes that hide", "seccomp"),
    _row("unreadable_program", "programs that cannot be read", level1=_FOLDER),
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
    _row("unlinked_files", "files without a name", "size of its tmpfs", level1=_FOLDER),
    _row("shared_files", "files of /dev/shm", "size of its tmpfs", level1=_FOLDER),
    _row("small_files", "many small files", "the count of files", level1=_FOLDER),
    _row("folders", "many folders", "the count of files", level1=_FOLDER),
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
