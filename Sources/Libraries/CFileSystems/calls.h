#pragma once

#include "CFileSystems.h"

struct ffmount_fs {
  const struct ffmount_fs_calls *calls;
  ffmount_fs_input input;
  /// Whether the reader of this program failed.
  bool is_stopped;
};

/// What a library does for the functions of the same names.
struct ffmount_fs_calls {
  void (*close)(ffmount_fs *fs);
  uint64_t (*root)(ffmount_fs *fs);
  uint64_t (*size)(ffmount_fs *fs);
  /// NULL if there is no journal.
  bool (*needs_recovery)(ffmount_fs *fs);
  ffmount_fs_result (*list)(ffmount_fs *fs, uint64_t number, void *context, ffmount_fs_name name);
  ffmount_fs_result (*stat)(ffmount_fs *fs, uint64_t number, ffmount_fs_file *file);
  int64_t (*link)(ffmount_fs *fs, uint64_t number, void *buffer, size_t room);
  int64_t (*areas)(ffmount_fs *fs, uint64_t number, ffmount_fs_area *areas, size_t room);
  int64_t (*read)(ffmount_fs *fs, uint64_t number, uint64_t offset, void *buffer, size_t count);
};

ffmount_fs_result ffmount_ext_open(const ffmount_fs_input *input, ffmount_fs **fs);
ffmount_fs_result ffmount_tsk_open(ffmount_fs_kind kind, const ffmount_fs_input *input, ffmount_fs **fs);

/// Reads exactly `count` bytes of the image. Returns false if it ends before, or if the reader failed.
bool ffmount_fs_input_read(ffmount_fs *fs, uint64_t offset, void *buffer, size_t count);
/// Adds a range to those before, with which it may be joined. Returns false if there is no room.
bool ffmount_fs_add_area(ffmount_fs_area *areas, size_t room, int64_t *count, ffmount_fs_area area);
