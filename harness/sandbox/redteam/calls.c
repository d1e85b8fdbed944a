/* Hostile programs in C: system calls by number, which Python wraps away or checks before.
 *
 * `calls NAME AIM`, AIM as for attacks.py. One function each; the table is at the end. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <netinet/in.h>
#include <unistd.h>

#define MIB (1 << 20)
/* These have the same number on every machine since Linux 5. */
enum { OPEN_TREE = 428, FSOPEN = 430, CLONE3 = 435, OPENAT2 = 437, PIDFD_GETFD = 438,
       MOUNT_SETATTR = 442, PIDFD_SEND = 424, PIDFD_OPEN = 434, URING = 425 };
#define HIGH 0x100000000L /* the kernel does not look at the upper half of a number */

static const char *aim;

static const char *text(const char *key) {
    static char values[8][4096];
    static int used;
    char *value = values[used++ % 8], wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\": \"", key);
    const char *at = strstr(aim, wanted);
    *value = 0;
    if (at) sscanf(at + strlen(wanted), "%4095[^\"]", value);
    return value;
}

static long number(const char *key) {
    char wanted[64];
    snprintf(wanted, sizeof wanted, "\"%s\": ", key);
    const char *at = strstr(aim, wanted);
    return at ? atol(at + strlen(wanted)) : 0;
}

/* A system call that succeeds is an escape. */
static void must_fail(const char *what, long result) {
    if (result < 0) printf("refused: %s - %s\n", what, strerror(errno));
    else printf("escaped: %s\n", what);
    fflush(stdout);
}

/* Print what can be read: the referee looks for its secret. */
static void show(int file) {
    char data[65536];
    long length = file < 0 ? -1 : read(file, data, sizeof data);
    if (length > 0) fwrite(data, 1, length, stdout), putchar('\n'), fflush(stdout);
    if (file >= 0) close(file);
}

static void read_case(void) {
    char path[8192];
    const char *secret = text("secret");
    long pids[] = {0, 1, getppid(), number("victim")};
    struct { uint64_t flags, mode, resolve; } how = {O_RDONLY, 0, 0};
    show(syscall(SYS_openat, AT_FDCWD, secret, O_RDONLY));
    show(syscall(OPENAT2, AT_FDCWD, secret, &how, sizeof how));
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, pids[i] ? "/proc/%ld/root%s" : "/proc/self/root%.0ld%s",
                 pids[i], secret);
        show(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
        for (int fd = 0; fd < 64; fd++) {
            snprintf(path, sizeof path, "/proc/%ld/fd/%d", pids[i] ? pids[i] : getpid(), fd);
            struct stat found;
            if (stat(path, &found) || S_ISFIFO(found.st_mode) || S_ISCHR(found.st_mode)) continue;
            show(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
            strncat(path, secret, sizeof path - 32);
            show(syscall(SYS_openat, AT_FDCWD, path, O_RDONLY));
        }
    }
    for (int fd = 0; fd < 64; fd++) { /* a folder that was left open leads everywhere */
        snprintf(path, sizeof path, "../../../../../../../../..%s", secret);
        show(syscall(SYS_openat, fd, path, O_RDONLY));
    }
}

static void namespaces(void) {
    int kinds[] = {CLONE_NEWUSER, CLONE_NEWNS, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC,
                   CLONE_NEWUTS, CLONE_NEWCGROUP, CLONE_NEWUSER | CLONE_NEWNS};
    const char *names[] = {"user", "mnt", "pid", "net", "ipc", "uts", "cgroup"};
    char path[64];
    for (int i = 0; i < 8; i++) {
        uint64_t arguments[11] = {(uint64_t)kinds[i], 0, 0, 0, SIGCHLD};
        long made = syscall(CLONE3, arguments, sizeof arguments);
        if (made == 0) _exit(0);
        must_fail("clone3 into a new namespace", made);
        made = syscall(SYS_clone, kinds[i] | SIGCHLD, 0, 0, 0, 0);
        if (made == 0) _exit(0);
        must_fail("clone into a new namespace", made);
        made = syscall(SYS_clone, HIGH | kinds[i] | SIGCHLD, 0, 0, 0, 0);
        if (made == 0) _exit(0);
        must_fail("clone with a high bit", made);
        must_fail("unshare", syscall(SYS_unshare, kinds[i]));
    }
    for (int i = 0; i < 7; i++) {
        snprintf(path, sizeof path, "/proc/self/ns/%s", names[i]);
        int file = open(path, O_RDONLY);
        if (file >= 0) must_fail("setns", syscall(SYS_setns, file, 0));
    }
    int victim = syscall(PIDFD_OPEN, number("victim"), 0);
    must_fail("setns of the harness", syscall(SYS_setns, victim, CLONE_NEWNS | CLONE_NEWPID));
}

static void mounts(void) {
    uint64_t attributes[4] = {0, 1, 0, 0}; /* clear MOUNT_ATTR_RDONLY */
    const char *place = text("folder"); /* nobody else's, should it be possible */
    must_fail("mount", syscall(SYS_mount, "none", place, "tmpfs", 0, ""));
    must_fail("bind", syscall(SYS_mount, "/", place, 0, 4096, 0));
    must_fail("mount proc", syscall(SYS_mount, "proc", place, "proc", 0, ""));
    for (int i = 0; i < 3; i++) must_fail("umount2", syscall(SYS_umount2, place, 2));
    must_fail("open_tree", syscall(OPEN_TREE, AT_FDCWD, "/", 1));
    must_fail("fsopen", syscall(FSOPEN, "tmpfs", 0));
    must_fail("mount_setattr", syscall(MOUNT_SETATTR, AT_FDCWD, "/", 0, attributes, 32));
    must_fail("pivot_root", syscall(SYS_pivot_root, ".", "."));
    must_fail("chroot", syscall(SYS_chroot, place));
}

static void trace(void) {
    long pids[] = {number("victim"), getppid(), 1};
    char data[1];
    struct iovec own = {data, 1}, nowhere = {0, 1};
    for (int i = 0; i < 3; i++) {
        if (pids[i] == getpid()) continue;
        must_fail("PTRACE_SEIZE", syscall(SYS_ptrace, 0x4206, pids[i], 0, 0));
        /* Nothing is at address 0; only an allowed caller gets the error that says so. */
        for (int call = SYS_process_vm_readv; call <= SYS_process_vm_writev; call++) {
            long result = syscall(call, pids[i], &own, 1, &nowhere, 1, 0);
            must_fail("process_vm_readv or writev", errno == EFAULT ? 0 : result);
        }
        must_fail("kcmp", syscall(SYS_kcmp, pids[i], getpid(), 2, 0, 0));
        must_fail("pidfd_getfd", syscall(PIDFD_GETFD, syscall(PIDFD_OPEN, pids[i], 0), 0, 0));
    }
    must_fail("PTRACE_TRACEME", syscall(SYS_ptrace, 0, 0, 0, 0));
}

static void io_uring(void) {
    char parameters[256] = {0};
    int ring = syscall(URING, 4, parameters);
    must_fail("io_uring_setup", ring);
    must_fail("io_uring_register", syscall(URING + 2, ring, 0, 0, 0));
}

static void limit_others(void) {
    long pids[] = {number("victim"), getppid(), 1};
    struct rlimit64 before = {0, 0};
    for (int i = 0; i < 3; i++) {
        if (pids[i] == getpid()) continue;
        must_fail("prlimit64, reading", syscall(SYS_prlimit64, pids[i], RLIMIT_CPU, 0, &before));
        if (before.rlim_max)
            must_fail("prlimit64", syscall(SYS_prlimit64, pids[i], RLIMIT_CPU, &before, 0));
    }
}

/* What is set is what it was, or what it is by default. The kernel looks at the lower half of an id. */
static void slow_others(void) {
    long pids[] = {number("victim"), getppid(), 1}, bits[] = {0, HIGH};
    unsigned long processors[16] = {0};
    struct sched_param none = {0};
    unsigned attributes[12] = {48};
    for (int i = 0; i < 6; i++) {
        long pid = pids[i / 2], who = bits[i % 2] | pid, size;
        if (pid == getpid()) continue;
        size = syscall(SYS_sched_getaffinity, pid, sizeof processors, processors);
        if (size > 0)
            must_fail("affinity", syscall(SYS_sched_setaffinity, who, size, processors));
        must_fail("scheduling", syscall(SYS_sched_setscheduler, who, 0, &none));
        must_fail("parameters of scheduling", syscall(SYS_sched_setparam, who, &none));
        must_fail("attributes of scheduling", syscall(SYS_sched_setattr, who, attributes, 0));
        for (int kind = 0; kind < 3; kind++) /* a process, a group, a user */
            must_fail("priority", syscall(SYS_setpriority, bits[i % 2] | kind,
                                          kind < 2 ? who : bits[i % 2] | getuid(), 0));
        for (int kind = 1; kind < 4; kind++)
            must_fail("disk", syscall(SYS_ioprio_set, bits[i % 2] | kind,
                                      kind < 3 ? who : bits[i % 2] | getuid(), 0));
    }
}

static void signal_harness(void) {
    long victim = number("victim");
    int ends[2], file = syscall(PIDFD_OPEN, victim, 0);
    siginfo_t information = {.si_signo = SIGURG, .si_code = SI_QUEUE};
    struct { int type; pid_t pid; } owner = {1, victim}; /* F_OWNER_PID */
    syscall(SYS_kill, victim, SIGURG);
    syscall(SYS_kill, HIGH | victim, SIGURG);
    syscall(SYS_tkill, victim, SIGURG);
    syscall(SYS_tgkill, victim, victim, SIGURG);
    syscall(SYS_rt_sigqueueinfo, victim, SIGURG, &information);
    syscall(SYS_rt_tgsigqueueinfo, victim, victim, SIGURG, &information);
    syscall(PIDFD_SEND, file, SIGURG, 0, 0);
    if (!pipe(ends)) {
        fcntl(ends[0], F_SETOWN_EX, &owner);
        fcntl(ends[0], F_SETSIG, SIGURG);
        fcntl(ends[0], F_SETFL, O_ASYNC | O_NONBLOCK);
        if (write(ends[1], ".", 1) < 0) perror("write");
    }
    usleep(50000);
}

static void sockets(void) {
    int families[] = {AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, AF_ALG, AF_VSOCK, 15, 44};
    int kinds[] = {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET};
    const char *word = text("word");
    struct sockaddr_in place = {AF_INET, htons(number("tcp")), {htonl(INADDR_LOOPBACK)}, {0}};
    for (int i = 0; i < 9; i++)
        for (int k = 0; k < 4; k++) {
            must_fail("socket", syscall(SYS_socket, families[i], kinds[k], 0));
            must_fail("socket, high bits", syscall(SYS_socket, HIGH | families[i], HIGH | kinds[k], 0));
        }
    int one = syscall(SYS_socket, AF_INET, SOCK_STREAM, 0);
    if (!syscall(SYS_connect, one, &place, sizeof place) && write(one, word, strlen(word)) > 0)
        printf("escaped: connected\n");
    usleep(20000);
}

/* Memory that is shared and held by several processes, each mapping a part. */
static void shared_areas(void) {
    for (int child = 0; child < 8; child++)
        if (fork() == 0) {
            for (int i = 0; i < 8; i++) {
                char *area = mmap(0, 16 * MIB, PROT_READ | PROT_WRITE,
                                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
                if (area == MAP_FAILED) _exit(1);
                memset(area, 1, 16 * MIB);
                usleep(5000);
            }
            usleep(1500000);
            _exit(0);
        }
    int all = 0, status;
    while (wait(&status) > 0) all += !status;
    if (all == 8) printf("escaped: 1 GiB in 8 processes\n");
}

/* A page at address 0, which holes in the kernel need, by a personality that a program inherits. */
static void page_zero(void) {
    char *words[] = {"calls", "page_zero_found", (char *)aim, 0};
    void *page = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    if (page == 0) printf("escaped: mapped address 0\n");
    personality(ADDR_NO_RANDOMIZE | MMAP_PAGE_ZERO | READ_IMPLIES_EXEC);
    fflush(stdout);
    execv("/proc/self/exe", words);
}

static void page_zero_found(void) {
    int ends[2];
    void *volatile zero = 0;
    if (pipe(ends)) return;
    if (write(ends[1], zero, 1) == 1) printf("escaped: address 0 can be read\n");
}

/* The same system calls by the numbers of other modes: each in a process that may be killed. */
#ifdef __x86_64__
static long compat(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(number), "b"(a), "c"(b), "d"(c) : "memory");
    return result;
}

static void tried(const char *what, int way) {
    pid_t child = fork();
    if (child == 0) {
        long result = -1;
        if (way == 0) result = compat(359, AF_INET, SOCK_STREAM, 0);         /* socket */
        if (way == 1) result = compat(310, CLONE_NEWUSER, 0, 0);             /* unshare */
        if (way == 2) result = compat(26, 0, 0, 0);                          /* ptrace */
        if (way == 3) result = compat(20, 0, 0, 0);                          /* getpid */
        if (way == 4) result = syscall(0x40000000 | SYS_socket, AF_INET, SOCK_STREAM, 0);
        if (way == 5) result = syscall(0x40000000 | SYS_getpid);
        if (way == 6) result = syscall(0x40000000 | 521, 0, 0, 0, 0);        /* x32 ptrace */
        if (way == 7) result = syscall(HIGH | SYS_socket, AF_INET, SOCK_STREAM, 0);
        if (way == 8) result = syscall(HIGH | SYS_unshare, CLONE_NEWUSER);
        _exit(result >= 0 ? 77 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) printf("escaped: %s\n", what);
    else printf("refused: %s\n", what);
    fflush(stdout);
}

static void other_numbers(void) {
    const char *ways[] = {"socket of 32 bits", "unshare of 32 bits", "ptrace of 32 bits",
                          "getpid of 32 bits", "socket of x32", "getpid of x32", "ptrace of x32",
                          "socket with a high bit", "unshare with a high bit"};
    for (int way = 0; way < 9; way++) tried(ways[way], way);
}
#else
static void other_numbers(void) { must_fail("a number with a high bit", syscall(HIGH | SYS_unshare, CLONE_NEWUSER)); }
#endif

static const struct { const char *name; void (*run)(void); } PROGRAMS[] = {
    {"read_case", read_case}, {"namespaces", namespaces}, {"mounts", mounts}, {"trace", trace},
    {"io_uring", io_uring}, {"limit_others", limit_others},
    {"slow_others", slow_others}, {"signal_harness", signal_harness},
    {"sockets", sockets}, {"shared_areas", shared_areas}, {"page_zero", page_zero},
    {"page_zero_found", page_zero_found}, {"other_numbers", other_numbers},
};

int main(int count, char **words) {
    if (count < 3) return 2;
    aim = words[2];
    printf("begun\n");
    fflush(stdout);
    for (unsigned i = 0; i < sizeof PROGRAMS / sizeof *PROGRAMS; i++)
        if (!strcmp(PROGRAMS[i].name, words[1])) PROGRAMS[i].run();
    printf("over\n");
    return 0;
}
