// ffkeep: the supervisor process of a mount. It owns the kernel's connection and the memory that each serving process hands
// over to the next, and restarts the serving process when it dies. It reads no data from files, and none from requests beyond
// their headers and the name of an attribute.
//
// On SIGUSR2, it replaces the serving process by the program that PROGRAM's path currently leads to, an update. If the update
// does not start to answer, the previous program continues.
//
// If no process can serve, it answers all requests with EIO until the mount is unmounted, or until another SIGUSR2 makes it
// try again. The directory below the mount stays hidden: a program that compares it with a copy would mistake it for an
// emptied source.
//
// Usage: ffkeep REPORT LIMIT END PROGRAM NAME ARGUMENT…
//
// - REPORT is the descriptor by which the first process reports the result of its start to the terminal, or -1.
// - LIMIT is the memory in kB beyond which a process is replaced.
// - END is "unmount" if a mount that no process can serve is unmounted instead.
// - NAME is the name that PROGRAM is called by.
//
// The environment variable FFMOUNT_KEPT of a process contains its ordinal; the descriptors of its socket, the memory, the
// connection and REPORT, each -1 if there is none; whether the previous process exceeded the memory limit; and 1 twice.
//
// A process sends messages of one byte:
//
// - D: it has mounted; the message contains the connection.
// - R: it answers requests.
// - E: the mount ends with this process.
// - F: another process would fail in the same way.
// - H: another process, the holder, shares its descriptors. The holder also has the other end of the socket. When the process
//   is dead, the holder is told so and sends messages K with the open descriptors. They stay open here until the next process
//   sends H.
//
// ffkeep is written in C to be small: no runtime, no threads, no allocation after its start.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

// The maximum number of processes that end before they answer, and of those that are killed before they answer; the maximum
// number of deaths per second of processes that have answered; the interval of checks, in ms; the time in ms that a
// process has to end after its mount or after a signal to end, before it is killed, and again before it is left behind.
enum { most_failed_starts = 10, most_killed_starts = 200, usual_deaths_a_second = 200, most_ordinals = 65535, round = 2000,
       longest_end = 5000 };

static int memory = -1;
static int connection = -1;
static int report = -1;
// The opened file of PROGRAM, whatever its path currently leads to, and that of an update until it has answered.
static int program = -1;
static int update = -1;
static unsigned ordinal;
static int was_too_large;
// Whether another process shares the descriptors of the serving process.
static int has_holder;
// The descriptors of dead processes, one bit each, and the descriptor limit of a new process.
enum { most_held = 1 << 20 };
static unsigned char held[most_held / 8];
static int has_held;
static struct rlimit usual_limit;
static char kept[64];
static const char refusal[] = "ffmount cannot serve this mount any more (see the system's log, and unmount it)";
static char *mountpoint = "";

// Unmounts. A mount without a serving process is worse than none.
static void unmount(void) {
    if (umount2(mountpoint, MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return;
    const pid_t child = fork();
    if (child == 0) {
        execl("/usr/bin/fusermount3", "fusermount3", "-u", "-z", "--", mountpoint, NULL);
        execl("/bin/fusermount3", "fusermount3", "-u", "-z", "--", mountpoint, NULL);
        execl("/usr/local/bin/fusermount3", "fusermount3", "-u", "-z", "--", mountpoint, NULL);
        _exit(127);
    }
    if (child > 0) waitpid(child, NULL, 0);
}

// Returns the unshared memory of a process, in kB.
static long own_memory(pid_t process) {
    char path[64];
    long all = 0, shared = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)process);
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    if (fscanf(file, "%*d %ld %ld", &all, &shared) != 2) all = shared = 0;
    fclose(file);
    return (all - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

static void note(int priority, const char *what, int number) {
    syslog(priority, "%s: %s %d", mountpoint, what, number);
}

// Starts PROGRAM. Sets *mine to the supervisor's end of its socket.
static pid_t start(char **arguments, int *mine, const sigset_t *before) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0) return -1;
    const pid_t child = fork();
    if (child == 0) {
        sigprocmask(SIG_SETMASK, before, NULL);
        for (int signal = 1; signal < 32; signal++)
            if (signal != SIGPIPE) (void)sigaction(signal, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        const int given[] = {ends[1], memory, connection, report};
        for (unsigned i = 0; i < sizeof given / sizeof *given; i++)
            if (given[i] >= 0) fcntl(given[i], F_SETFD, 0);
        for (int file = 0; has_held && file < most_held; file++)
            if (held[file / 8] & 1 << file % 8) fcntl(file, F_SETFD, 0);
        if (has_held) setrlimit(RLIMIT_NOFILE, &usual_limit);
        snprintf(kept, sizeof kept, "%u %d %d %d %d %d 1 1", ordinal, given[0], given[1], given[2], given[3], was_too_large);
        setenv("FFMOUNT_KEPT", kept, 1);
        execveat(update >= 0 ? update : program, "", arguments, environ, AT_EMPTY_PATH);
        _exit(127);
    }
    close(ends[1]);
    if (child < 0) close(ends[0]);
    was_too_large = 0;
    *mine = child < 0 ? -1 : ends[0];
    return child;
}

// Closes the descriptors of dead processes, once the next process has them.
static void close_held(void) {
    for (int file = 0; has_held && file < most_held; file++)
        if (held[file / 8] & 1 << file % 8) close(file);
    if (has_held) memset(held, 0, sizeof held);
    has_held = 0;
}

// Keeps descriptors, and records their numbers at the offsets given in the message.
static void keep_held(const uint64_t *places, uint64_t count, const int *files, size_t got) {
    for (uint64_t i = 0; i < count; i++) {
        const int64_t file = i < got && files[i] < most_held ? files[i] : -1;
        (void)!pwrite(memory, &file, sizeof file, (off_t)places[i]);
        if (file < 0) continue;
        held[file / 8] |= (unsigned char)(1 << file % 8);
        has_held = 1;
    }
}

// Receives a message. Returns its byte, 0 if there is none, -1 at the end.
static int receive(int socket, int flags) {
    enum { most_files = 100 };
    uint64_t words[2 + most_files] = {0};
    struct iovec bytes = {words, sizeof words};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * most_files)];
    } control;
    struct msghdr message = {.msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control};
    const ssize_t got = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
    if (got <= 0) return got == 0 ? -1 : 0;
    const char byte = *(char *)words;
    const struct cmsghdr *sent = CMSG_FIRSTHDR(&message);
    int files[most_files];
    size_t count = 0;
    if (sent && sent->cmsg_type == SCM_RIGHTS) {
        count = (sent->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        memcpy(files, CMSG_DATA(sent), count * sizeof(int));
    }
    if (byte == 'K' && got == sizeof words && words[1] <= most_files) {
        keep_held(words + 2, words[1], files, count);
    } else if (count == 1 && connection < 0) {
        connection = *files;
    } else {
        for (size_t i = 0; i < count; i++) close(files[i]);
    }
    if (byte == 'H') {
        has_holder = 1;
        close_held();
    }
    return byte;
}

// Takes over the open descriptors of a dead process from the process that shared them.
static void collect(int socket) {
    static int is_raised;
    if (!is_raised && getrlimit(RLIMIT_NOFILE, &usual_limit) == 0) {
        const struct rlimit all = {usual_limit.rlim_max, usual_limit.rlim_max};
        setrlimit(RLIMIT_NOFILE, &all);
        is_raised = 1;
    }
    if (send(socket, "G", 1, MSG_NOSIGNAL) != 1) return;
    // Waits until the holder has exited. Everything else that the process had open is then closed, and its locks are released.
    for (;;) {
        struct pollfd wait = {.fd = socket, .events = POLLIN};
        const int come = poll(&wait, 1, 10000);
        if (come < 0 && errno == EINTR) continue;
        if (come <= 0 || receive(socket, MSG_DONTWAIT) == -1) return;
    }
}

// Closes *file and gives it another value.
static void replace(int *file, int other) {
    if (*file >= 0) close(*file);
    *file = other;
}

static int is_gone(void) {
    struct pollfd look = {.fd = connection, .events = 0};
    return connection < 0 || (poll(&look, 1, 0) > 0 && look.revents & POLLERR);
}

static void detach(void) {
    setsid();
    if (chdir("/") < 0) return;
    const int nothing = open("/dev/null", O_RDWR);
    for (int stream = 0; stream < 3 && nothing >= 0; stream++) dup2(nothing, stream);
    if (nothing > 2) close(nothing);
    close(report);
    report = -1;
}

// Sends the answer to a request.
static void answer(uint64_t request, int error, const void *bytes, size_t count) {
    struct fuse_out_header head = {(uint32_t)(sizeof head + count), error, request};
    const struct iovec parts[] = {{&head, sizeof head}, {(void *)bytes, count}};
    (void)!writev(connection, parts, count ? 2 : 1);
}

// Answers a request with EIO. `bytes` are the `count` bytes after its header. The root keeps its attributes, so that the
// reason can be queried.
static void refuse(const struct fuse_in_header *head, const char *bytes, size_t count) {
    switch (head->opcode) {
    case FUSE_FORGET:
    case FUSE_BATCH_FORGET:
    case FUSE_INTERRUPT:
        return;
    case FUSE_RELEASE:
    case FUSE_RELEASEDIR:
    case FUSE_DESTROY:
        return answer(head->unique, 0, NULL, 0);
    case FUSE_GETATTR: {
        if (head->nodeid != FUSE_ROOT_ID) break;
        const struct fuse_attr_out out = {
            .attr = {.ino = 1, .mode = S_IFDIR | 0555, .nlink = 2, .uid = getuid(), .gid = getgid(), .blksize = 4096}};
        return answer(head->unique, 0, &out, sizeof out);
    }
    case FUSE_GETXATTR: {
        struct fuse_getxattr_in in;
        static const char name[] = "user.ffmount.error";
        if (count < sizeof in + sizeof name || memcmp(bytes + sizeof in, name, sizeof name) != 0) break;
        memcpy(&in, bytes, sizeof in);
        const struct fuse_getxattr_out out = {.size = sizeof refusal - 1};
        if (in.size == 0) return answer(head->unique, 0, &out, sizeof out);
        if (in.size < out.size) return answer(head->unique, -ERANGE, NULL, 0);
        return answer(head->unique, 0, refusal, out.size);
    }
    }
    answer(head->unique, -EIO, NULL, 0);
}

// Refuses the requests that the last process has not answered (see RequestSlots.swift).
static void refuse_inherited(void) {
    enum { version = 2, end_place = 4088, slots = 4096 + 8192 * 8 + 16 * 4096, size = 4096 + (1 << 20) + 4096, most = 8192 };
    uint64_t found = 0, end = 0;
    if (pread(memory, &found, sizeof found, 0) != sizeof found || found != version) return;
    if (pread(memory, &end, sizeof end, end_place) != sizeof end || end > most) return;
    for (uint64_t slot = 0; slot < end; slot++) {
        const off_t place = slots + (off_t)slot * size;
        struct fuse_in_header head;
        const uint64_t none = 0;
        if (pread(memory, &head, sizeof head, place) != sizeof head || head.len == 0) continue;
        refuse(&head, NULL, 0);
        (void)!pwrite(memory, &none, sizeof none, place);
    }
}

// Refuses all requests until the mount ends or a signal arrives. Returns that signal, or 0.
static int refuse_all(int arrivals) {
    static char buffer[(1 << 20) + 8192] __attribute__((aligned(8)));
    syslog(LOG_CRIT, "%s: %s", mountpoint, refusal);
    refuse_inherited();
    for (;;) {
        struct pollfd waits[2] = {{.fd = arrivals, .events = POLLIN}, {.fd = connection, .events = POLLIN}};
        if (poll(waits, 2, -1) < 0 && errno != EINTR) return 0;
        struct signalfd_siginfo arrival;
        while (read(arrivals, &arrival, sizeof arrival) == sizeof arrival)
            if (arrival.ssi_signo != SIGCHLD) return (int)arrival.ssi_signo;
        if (waits[1].revents & POLLERR) return 0;
        if (!(waits[1].revents & POLLIN)) continue;
        const ssize_t got = read(connection, buffer, sizeof buffer);
        struct fuse_in_header head;
        if (got >= (ssize_t)sizeof head) {
            memcpy(&head, buffer, sizeof head);
            refuse(&head, buffer + sizeof head, (size_t)got - sizeof head);
        } else if (got < 0 && errno != EINTR && errno != EAGAIN && errno != ENOENT) return 0;
    }
}

int main(int count, char **arguments) {
    if (count < 7) {
        fputs("ffkeep: started by ffmount, not by hand\n", stderr);
        return 64;
    }
    report = atoi(arguments[1]);
    const long limit = atol(arguments[2]);
    const int unmounts = strcmp(arguments[3], "unmount") == 0;
    char **const command = arguments + 4;
    mountpoint = arguments[count - 1];
    openlog("ffmount", LOG_PID, LOG_DAEMON);
    memory = memfd_create("ffmount", MFD_CLOEXEC);
    sigset_t signals, before;
    sigemptyset(&signals);
    const int handled[] = {SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGUSR2};
    for (unsigned i = 0; i < sizeof handled / sizeof *handled; i++) sigaddset(&signals, handled[i]);
    sigprocmask(SIG_BLOCK, &signals, &before);
    // A serving process starts with no signals blocked, whatever this process inherited.
    sigset_t none;
    sigemptyset(&none);
    const int arrivals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    program = open(*command, O_PATH | O_CLOEXEC);
    if (memory < 0 || arrivals < 0 || program < 0) return 1;

    int socket = -1, answers = 0, ends = 0, fails = 0, failed_starts = 0, killed_starts = 0, deaths = 0, is_due = 0;
    // Whether the mount has ended, and whether the process was killed because it did not end.
    int is_over = 0, is_overdue = 0;
    struct timespec second = {0, 0};
    pid_t child = start(command + 1, &socket, &none);
    while (child > 0) {
        // The connection is not waited for here, since each request would wake this process.
        struct pollfd waits[2] = {{.fd = arrivals, .events = POLLIN}, {.fd = socket, .events = POLLIN}};
        const int come = poll(waits, socket < 0 ? 1 : 2, is_over || ends ? longest_end : round);
        if (come < 0 && errno != EINTR) return 1;
        if (come == 0 && !is_over && !ends && connection >= 0 && is_gone()) {
            is_over = 1;
            continue;
        }
        if (come == 0 && (is_over || ends)) {
            note(LOG_ERR, is_overdue ? "left behind is process" : "killed because it does not end is process", (int)child);
            if (is_overdue) break;
            is_overdue = 1;
            kill(child, SIGKILL);
        } else if (come == 0 && answers && own_memory(child) > limit) {
            note(LOG_WARNING, "the serving process uses too much memory and is replaced, kB:", (int)own_memory(child));
            was_too_large = 1;
            kill(child, SIGKILL);
        }
        for (int byte; socket >= 0 && (byte = receive(socket, MSG_DONTWAIT)) > 0;) {
            if (byte == 'R') {
                answers = 1;
                failed_starts = killed_starts = 0;
                if (report >= 0) detach();
                if (update >= 0) {
                    replace(&program, update);
                    update = -1;
                }
            }
            ends |= byte == 'E';
            fails |= byte == 'F';
        }
        if (waits[1].revents & POLLHUP) {
            close(socket);
            socket = -1;
        }
        struct signalfd_siginfo arrival;
        while (read(arrivals, &arrival, sizeof arrival) == sizeof arrival)
            if (arrival.ssi_signo == SIGUSR2) is_due = 1;
            else if (arrival.ssi_signo != SIGCHLD) {
                ends = 1;
                kill(child, (int)arrival.ssi_signo);
            }
        // A process that has not answered yet may be running the update already.
        if (is_due && answers) {
            is_due = 0;
            replace(&update, open(*command, O_PATH | O_CLOEXEC));
            // The next process answers its outstanding requests.
            if (update >= 0) kill(child, SIGKILL);
        }
        int status;
        if (waitpid(child, &status, WNOHANG) != child) continue;
        if (socket >= 0)
            for (int byte; (byte = receive(socket, MSG_DONTWAIT)) > 0;) {
                ends |= byte == 'E';
                fails |= byte == 'F';
            }
        const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        // The first process never answered, so the mount has not been used.
        if (ordinal == 0 && !answers) return code;
        if (is_gone()) return WIFEXITED(status) ? code : 0;
        if (is_overdue) break;
        if (ends || code == 0) return code;
        if (has_holder && socket >= 0) collect(socket);
        has_holder = 0;
        if (socket >= 0) close(socket);
        socket = -1;
        if (update >= 0 && !answers) {
            note(LOG_ERR, "the update does not start, the previous program continues:", code);
            replace(&update, -1);
        } else if (update >= 0) note(LOG_NOTICE, "updates, as process", (int)ordinal + 1);
        else if (WIFSIGNALED(status)) note(LOG_ERR, "the serving process was ended by signal", WTERMSIG(status));
        else note(LOG_ERR, "the serving process ended with", code);
        // Kills before the first answer can recur with the next process, but only up to a limit.
        const int is_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        if (!answers && is_killed) killed_starts++;
        if (!answers && !is_killed) failed_starts++;
        const int is_last = ++ordinal > most_ordinals;
        if (failed_starts >= most_failed_starts || killed_starts >= most_killed_starts)
            note(LOG_CRIT, "given up: no process could start after tries:", failed_starts + killed_starts);
        else if (is_last) note(LOG_CRIT, "given up after processes:", (int)ordinal);
        else if (fails) note(LOG_CRIT, "given up: its processes keep ending, the last as process", (int)ordinal);
        else goto next;
        if (unmounts) break;
        const int signal = refuse_all(arrivals);
        if (signal == 0) return 1;
        if (signal != SIGUSR2 || is_last) break;
        replace(&program, open(*command, O_PATH | O_CLOEXEC));
        failed_starts = killed_starts = fails = 0;
    next:;
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec != second.tv_sec) deaths = 0;
        second = now;
        // Repeated early deaths must not occupy the processor.
        if (!answers && killed_starts < 5 && !failed_starts) usleep(10000);
        else if (!answers || ++deaths > usual_deaths_a_second) usleep(60000 * (unsigned)(failed_starts + 1));
        answers = 0;
        child = start(command + 1, &socket, &none);
    }
    unmount();
    // The end of the connection fails all waiting requests.
    return 1;
}
