// The holder: a process that shares this one's descriptor table and outlives it, so that opening and closing files needs no
// message.
#define _GNU_SOURCE
#include "CPosix.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// Sends descriptors with the offsets in the shared memory at which the receiver stores their numbers. Returns 0 or an errno.
static int send_files(int socket, struct ffmount_held_files *message, const int *files, size_t count) {
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int) * FFMOUNT_HELD_FILES)];
    } control;
    memset(&control, 0, sizeof control);
    message->kind = 'K';
    message->count = count;
    struct iovec bytes = {message, sizeof *message};
    struct msghdr head = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(sizeof(int) * count)};
    struct cmsghdr *const rights = CMSG_FIRSTHDR(&head);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int) * count);
    memcpy(CMSG_DATA(rights), files, sizeof(int) * count);
    for (int tries = 0;; tries++) {
        if (sendmsg(socket, &head, MSG_NOSIGNAL) >= 0) return 0;
        // The limit of descriptors in flight is reached.
        if ((errno != ETOOMANYREFS && errno != ENOBUFS && errno != EINTR) || tries > 5000) return errno;
        usleep(1000);
    }
}

static void send_batch(int socket, const uint64_t *places, const int *files, size_t count) {
    struct ffmount_held_files message = {0};
    memcpy(message.places, places, sizeof *places * count);
    if (count == 0 || send_files(socket, &message, files, count) != EBADF) return;
    // One was just being closed.
    for (size_t i = 0; i < count; i++) {
        message.places[0] = places[i];
        send_files(socket, &message, files + i, 1);
    }
}

static void hold(int socket, const struct ffmount_held *all, const uint64_t *end, uint64_t place) {
    prctl(PR_SET_NAME, "ffhold");
    char byte;
    ssize_t got;
    do got = recv(socket, &byte, 1, 0);
    while (got < 0 && errno == EINTR);
    // The keeper has ended.
    if (got <= 0) return;
    uint64_t places[FFMOUNT_HELD_FILES];
    int files[FFMOUNT_HELD_FILES];
    size_t count = 0;
    for (uint64_t i = 0; i < *end; i++) {
        if (all[i].kind == 0 || all[i].file < 0) continue;
        places[count] = place + i * sizeof *all + offsetof(struct ffmount_held, file);
        files[count++] = (int)(all[i].file & INT32_MAX);
        if (count < FFMOUNT_HELD_FILES) continue;
        send_batch(socket, places, files, count);
        count = 0;
    }
    send_batch(socket, places, files, count);
}

pid_t ffmount_hold(int socket, const struct ffmount_held *all, const uint64_t *end, uint64_t place) {
    sigset_t every, before;
    sigfillset(&every);
    sigprocmask(SIG_SETMASK, &every, &before);
    // No exit signal, and no wait: init reaps it.
    const pid_t child = (pid_t)syscall(SYS_clone, CLONE_FILES, 0, 0, 0, 0);
    if (child == 0) {
        hold(socket, all, end, place);
        _exit(0);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}
