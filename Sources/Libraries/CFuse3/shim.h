#pragma once

// Must be defined before libfuse's headers.
#define FUSE_USE_VERSION 312
#include <stddef.h>
#include <fuse_lowlevel.h>
#include <fuse_log.h>

// C, because a bufvec ends in an array of one element, which Swift imports as a tuple.
static inline int ffmount_reply_descriptor(fuse_req_t request, int descriptor, off_t offset, size_t count) {
  struct fuse_bufvec buffers = FUSE_BUFVEC_INIT(count);
  buffers.buf[0].flags = FUSE_BUF_IS_FD | FUSE_BUF_FD_SEEK;
  buffers.buf[0].fd = descriptor;
  buffers.buf[0].pos = offset;
  return fuse_reply_data(request, &buffers, 0);
}

// C, because it is a macro since libfuse 3.17.
static inline struct fuse_session *ffmount_session_new(
    struct fuse_args *arguments, const struct fuse_lowlevel_ops *operations, size_t size, void *user) {
  return fuse_session_new(arguments, operations, size, user);
}
