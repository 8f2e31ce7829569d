#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Images of file systems: ext2 to ext4 by libext2fs, NTFS and exFAT by The Sleuth Kit's library, which is loaded if it is
// installed. One thread at a time.

/// Loads The Sleuth Kit's library. Returns false if that fails.
bool ffmount_fs_load(const char *library);

/// The bytes of an image.
typedef struct {
  void *context;
  uint64_t size;
  /// Reads up to `count` bytes at an offset that is less than `size`. Returns the number of bytes, or -1.
  int64_t (*read)(void *context, uint64_t offset, void *buffer, size_t count);
} ffmount_fs_input;

typedef enum {
  FFMOUNT_FS_EXT,
  FFMOUNT_FS_NTFS,
  FFMOUNT_FS_EXFAT,
  /// These are read for their deleted files.
  FFMOUNT_FS_FAT,
  FFMOUNT_FS_OLD_EXT
} ffmount_fs_kind;

typedef enum {
  FFMOUNT_FS_OK,
  FFMOUNT_FS_DAMAGED,
  FFMOUNT_FS_UNSUPPORTED,
  /// The library is not installed.
  FFMOUNT_FS_ABSENT,
  FFMOUNT_FS_NO_MEMORY,
  /// The reader of this program failed.
  FFMOUNT_FS_STOPPED
} ffmount_fs_result;

typedef struct ffmount_fs ffmount_fs;

/// Opens an image. `input` is copied.
ffmount_fs_result ffmount_fs_open(ffmount_fs_kind kind, const ffmount_fs_input *input, ffmount_fs **fs);
void ffmount_fs_close(ffmount_fs *fs);

/// Returns the number of the root folder.
uint64_t ffmount_fs_root(ffmount_fs *fs);

/// Returns the size that the file system says it has, in bytes.
uint64_t ffmount_fs_size(ffmount_fs *fs);

/// Whether the journal has changes that the file system lacks.
bool ffmount_fs_needs_recovery(ffmount_fs *fs);

/// Takes a name of a folder and the number of its file. Returns false to end.
typedef bool (*ffmount_fs_name)(void *context, const char *name, size_t count, uint64_t number, bool is_deleted);

/// Lists a folder, without `.`, `..` and the file system's own files.
ffmount_fs_result ffmount_fs_list(ffmount_fs *fs, uint64_t number, void *context, ffmount_fs_name name);

typedef struct {
  /// The type and the permissions, as in stat(2).
  uint32_t mode;
  uint64_t size;
  int64_t seconds;
  uint32_t nanoseconds;
  bool is_encrypted;
  bool is_deleted;
  /// Whether Windows has a reparse point, which ffmount_fs_link gives.
  bool has_reparse_point;
} ffmount_fs_file;

ffmount_fs_result ffmount_fs_stat(ffmount_fs *fs, uint64_t number, ffmount_fs_file *file);

/// Copies the target of a symbolic link, or a reparse point, into a buffer. Returns its size, or -1 if there is none of at
/// most `room` bytes.
int64_t ffmount_fs_link(ffmount_fs *fs, uint64_t number, void *buffer, size_t room);

/// A range of a file that the image contains unchanged.
typedef struct {
  /// The offset in the file.
  uint64_t offset;
  uint64_t count;
  /// The offset in the image.
  uint64_t start;
} ffmount_fs_area;

/// Finds the ranges of a file that the image contains unchanged, in order. All other bytes are zeros.
///
/// Returns the number of ranges. Returns -1 if there are more than `room`, or if bytes have to be decoded or found one
/// block at a time.
int64_t ffmount_fs_areas(ffmount_fs *fs, uint64_t number, ffmount_fs_area *areas, size_t room);

/// Reads bytes of a file from an offset. Returns their number, which is smaller at the end, or -1.
int64_t ffmount_fs_read(ffmount_fs *fs, uint64_t number, uint64_t offset, void *buffer, size_t count);
