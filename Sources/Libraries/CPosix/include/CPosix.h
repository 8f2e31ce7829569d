#pragma once

#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What Swift's Glibc module lacks, because it is Linux only, variadic, a macro, or marked unavailable. Each function
// returns what the call returns and leaves errno unchanged.

/// openat2(2): glibc has no wrapper; `syscall` is variadic.
int ffmount_openat2(int folder, const char *path, uint64_t flags, uint64_t resolve);
/// getdents64(2): hidden behind _GNU_SOURCE.
ssize_t ffmount_getdents64(int folder, void *buffer, size_t count);
/// xattr(7), not following a link in the last component: <sys/xattr.h> is not in Swift's Glibc.
ssize_t ffmount_lgetxattr(const char *path, const char *name, void *value, size_t count);
ssize_t ffmount_llistxattr(const char *path, char *list, size_t count);
ssize_t ffmount_fgetxattr(int file, const char *name, void *value, size_t count);
ssize_t ffmount_flistxattr(int file, char *list, size_t count);
/// fstatfs(2), which is in no header of Swift's Glibc: the number of a file system's kind; 0 if it fails.
uint32_t ffmount_file_system(int file);
/// fcntl(2) with F_OFD_SETLK, which is variadic: locks one byte of an open file exclusively, for as long as it is open. Returns
/// 0 or errno, EAGAIN if somebody else has locked it.
int ffmount_lock_byte(int file, int64_t place);
/// statx(2) with AT_STATX_FORCE_SYNC, hidden behind _GNU_SOURCE: makes the file system report the size anew.
int ffmount_refresh_size(int folder, const char *path);
/// statx(2) with AT_STATX_DONT_SYNC: whether an entry is a folder with room for `count` folders by its links, or one that
/// does not count them, and nothing is mounted there. Asks no server for what is known.
int ffmount_may_hold_folders(int folder, const char *name, unsigned count);
/// statx(2) of a directory entry, not following a symbolic link, or without a `name` of the descriptor `folder` itself. Fills
/// in a `struct stat`, which is declared here as no type lest Swift take it for this module's, and the creation time, whose
/// nanoseconds are -1 if the file system does not record it. Returns 1 for a file that is append-only (chattr +a), 0 for any other,
/// or -1 with errno.
int ffmount_status(int folder, const char *name, void *status, int64_t *seconds, int32_t *nanoseconds);
/// fork(2): unavailable in Swift. Called before any second thread exists. The child must not start threads: Swift's locks
/// (its runtime's, and those of initializers of static variables) contain the number of the thread that holds them. A thread that
/// has used one keeps its parent's number in the child, where a lock that two threads want would stay locked for ever.
pid_t ffmount_fork(void);
/// Forks. The child calls `body` in a thread of its own, which may start others, and ends with status 1 when that returns.
/// Called before any second thread exists.
pid_t ffmount_fork_into_thread(void (*body)(void *), void *context);
/// clone(2) and exec(2), if the kernel permits with new PID, network, IPC, UTS and (except for root) user namespaces,
/// which posix_spawn(3) cannot create: descriptor 3 is `socket`, 2 is `errors`, 0 and 1 are /dev/null, and all others
/// are closed; signals are reset to their defaults. Blocks until the program runs. Returns the child, or -errno.
pid_t ffmount_spawn(
    const char *program, char *const *arguments, char *const *variables, int socket, int errors);
/// clock_getcpuclockid(3) and clock_gettime(2): the CPU time of a process, in nanoseconds; 0 if it is gone.
uint64_t ffmount_processor_time(pid_t process);
/// posix_spawn_file_actions_addclosefrom_np(3): hidden behind _GNU_SOURCE.
int ffmount_spawn_close_from(posix_spawn_file_actions_t *actions, int first);
/// memfd_create(2), closed on exec: hidden behind _GNU_SOURCE.
int ffmount_memfd(const char *name);
/// mallopt(3), which is in no header of Swift's Glibc: limits the number of malloc arenas, each of which keeps its
/// freed memory.
void ffmount_limit_arenas(int count);
/// mallopt(3): maps every allocation of at least this many bytes. By default malloc raises that threshold when such
/// memory is freed, and keeps ever larger blocks.
void ffmount_map_from(int size);
/// mallinfo2(3), the number of allocated bytes, and malloc_trim(3), which returns free memory to the system: in no
/// header of Swift's Glibc.
size_t ffmount_heap(void);
void ffmount_trim_heap(void);
/// Unmaps the pages of the program's and its libraries' read-only segments by madvise(2). The next access maps them again
/// from the page cache.
void ffmount_release_program_pages(void);
/// gettid(2): hidden behind _GNU_SOURCE.
pid_t ffmount_thread(void);
/// syslog(3) is variadic.
void ffmount_syslog(int priority, const char *line);
void ffmount_openlog(const char *name);
/// Formats a message that libfuse logs: Swift cannot read a va_list.
void ffmount_format(char *buffer, size_t count, const char *format, va_list arguments);
/// sendmsg(2) with SCM_RIGHTS, whose buffer is laid out by macros: one message and at most FFMOUNT_MOST_DESCRIPTORS
/// descriptors. A closed socket gives EPIPE, never SIGPIPE.
ssize_t ffmount_send(int socket, const void *message, size_t count, const int *descriptors, size_t descriptor_count);
/// recvmsg(2), its counterpart: `descriptors` has room for FFMOUNT_MOST_DESCRIPTORS; received ones are closed on exec.
/// Returns 0 at the end of the stream.
ssize_t ffmount_receive(int socket, void *message, size_t count, int *descriptors, size_t *descriptor_count);
enum { FFMOUNT_MOST_DESCRIPTORS = 4 };
/// Macros of <sys/sysmacros.h> and <fcntl.h>, and values hidden behind _GNU_SOURCE.
extern const int ffmount_O_PATH, ffmount_O_NOATIME, ffmount_O_TMPFILE;
extern const uint64_t ffmount_RESOLVE_BENEATH, ffmount_RESOLVE_NO_SYMLINKS, ffmount_RESOLVE_NO_MAGICLINKS;

// Changes of files: hidden behind _GNU_SOURCE, or in no header of Swift's Glibc.

/// openat2(2) with the mode of a file that is created.
int ffmount_create(int folder, const char *name, uint64_t flags, uint64_t mode, uint64_t resolve);
/// renameat2(2).
int ffmount_rename(int folder, const char *name, int new_folder, const char *new_name, unsigned flags);
/// fchownat(2) with AT_EMPTY_PATH: `file` may be an O_PATH descriptor, also of a symbolic link.
int ffmount_chown(int file, uid_t owner, gid_t group);
/// utimensat(2) with AT_EMPTY_PATH, likewise.
int ffmount_set_times(int file, int64_t accessed, int32_t accessed_part, int64_t modified, int32_t modified_part);
/// pwritev2(2) with RWF_APPEND.
ssize_t ffmount_append(int file, const void *bytes, size_t count);
/// fallocate(2).
int ffmount_allocate(int file, int mode, off_t offset, off_t count);
/// copy_file_range(2).
ssize_t ffmount_copy(int from, off_t from_offset, int to, off_t to_offset, size_t count);
/// ioctl(2) with FICLONE: `to`, which is open for writing, shares all blocks of `from`.
int ffmount_clone(int from, int to);
/// setxattr(2) and removexattr(2).
int ffmount_set_attribute(const char *path, const char *name, const void *value, size_t count, int flags);
int ffmount_remove_attribute(const char *path, const char *name);
/// fcntl(2) with F_OFD_SETLK and F_OFD_GETLK: a lock that belongs to the open file description.
int ffmount_set_lock(int file, short type, off_t start, off_t count);
int ffmount_get_lock(int file, short *type, off_t *start, off_t *count, pid_t *process);
/// flock(2).
int ffmount_flock(int file, int operation);
/// setfsuid(2) and setfsgid(2): what the calling thread creates belongs to `user` and `group`. It keeps root's
/// capabilities.
void ffmount_act_as(uid_t user, gid_t group);
void ffmount_act_as_oneself(void);
/// Whether the calling thread goes without CAP_FSETID: then what it writes to loses its set-id bits, as for an
/// ordinary user.
void ffmount_clear_set_ids(int clears);
/// Lends an open file to the FUSE connection `wire`; returns its number there, or -1.
int ffmount_lend_file(int wire, int file);
void ffmount_take_back_file(int wire, int lent);

// A lock in a word that is 0 at first. Threads that wait for it do not take turns.
void ffmount_lock(uint32_t *word);
void ffmount_unlock(uint32_t *word);
/// Returns whether it took the lock.
int ffmount_try_lock(uint32_t *word);

// What a thread works on when it dies: a trap cannot be noticed in Swift.

/// A request, or what goes on because of it: what is asked, and the number of the node; zeros for nothing.
struct ffmount_work {
    uint64_t subject, node;
};
void ffmount_work_on(struct ffmount_work work);
struct ffmount_work ffmount_present_work(void);

/// A trap, and the work of its thread. `generation` is the reader's.
struct ffmount_trap {
    uint64_t subject, node, generation, seconds, signal;
};
enum { FFMOUNT_TRAPS = 1000 };
/// The last ones, the first at `count` modulo their number.
struct ffmount_traps {
    uint64_t count, read;
    struct ffmount_trap all[FFMOUNT_TRAPS];
};
/// Has SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE and SIGABRT recorded in memory that another process reads, before they end
/// this one.
void ffmount_record_traps(struct ffmount_traps *place);
/// Gives this thread a stack for that which is not full when its own is.
void ffmount_use_alternate_stack(void);
/// The slot of the request that this thread is about to answer, which whoever answers it takes: -1 if it is taken.
void ffmount_offer_slot(int32_t slot);
int32_t ffmount_take_slot(void);

// Descriptors that outlive their process.

/// A record of a descriptor that outlives its process. Invalid if `kind` is 0. Only the lower 31 bits of `file` are used. The
/// values are the caller's.
struct ffmount_held {
    uint64_t kind;
    int64_t file;
    uint64_t values[6];
};
enum { FFMOUNT_HELD_FILES = 100 };
/// The message that the holder sends with descriptors: the offsets at which their numbers are stored in the shared memory.
struct ffmount_held_files {
    uint64_t kind, count;
    uint64_t places[FFMOUNT_HELD_FILES];
};
/// Starts a process that shares this one's descriptor table. When it receives a byte from `socket`, it sends the descriptors
/// of the first `*end` records of `all`, which begin at offset `place` of the shared memory, and exits. It also exits when the
/// socket's peer is closed. Must be called once, before a second thread exists. Returns the process ID, or -1 with errno.
pid_t ffmount_hold(int socket, const struct ffmount_held *all, const uint64_t *end, uint64_t place);
