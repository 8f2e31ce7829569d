#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// 7-Zip's library, 7z.so, which has a C++ interface of its own. It is loaded if it is installed. One thread at a time.

#ifdef __cplusplus
extern "C" {
#endif

/// Loads the library. Returns false if that fails, or if it is a version before 23 with another interface.
bool ffmount_7z_load(const char *path);

/// Returns the index of a format by its name, without regard to case. Returns -1 if the library does not have it.
int ffmount_7z_format(const char *name);

/// The bytes of an archive.
typedef struct {
  void *context;
  uint64_t size;
  /// Reads up to `count` bytes at an offset that is less than `size`. Returns the number of bytes, or -1.
  int64_t (*read)(void *context, uint64_t offset, void *buffer, size_t count);
} ffmount_7z_input;

typedef enum {
  FFMOUNT_7Z_OK,
  /// The bytes do not have the format.
  FFMOUNT_7Z_FOREIGN,
  FFMOUNT_7Z_DAMAGED,
  /// The bytes of an entry do not match its checksum.
  FFMOUNT_7Z_WRONG_SUM,
  FFMOUNT_7Z_UNSUPPORTED,
  /// A password is needed, or the one given is wrong.
  FFMOUNT_7Z_LOCKED,
  FFMOUNT_7Z_NO_MEMORY,
  /// A reader or writer of this program's failed.
  FFMOUNT_7Z_STOPPED
} ffmount_7z_result;

typedef struct ffmount_7z_archive ffmount_7z_archive;

/// Opens an archive of a format. `input` is copied. `password` is UTF-8, and NULL if there is none.
ffmount_7z_result ffmount_7z_open(
    int format, const ffmount_7z_input *input, const char *password, ffmount_7z_archive **archive);
void ffmount_7z_close(ffmount_7z_archive *archive);

uint32_t ffmount_7z_count(ffmount_7z_archive *archive);

/// The properties of entries and archives: the library's numbers.
typedef enum {
  FFMOUNT_7Z_PATH = 3,
  FFMOUNT_7Z_EXTENSION = 5,
  FFMOUNT_7Z_IS_FOLDER = 6,
  FFMOUNT_7Z_SIZE = 7,
  FFMOUNT_7Z_ATTRIBUTES = 9,
  FFMOUNT_7Z_MODIFIED = 12,
  FFMOUNT_7Z_IS_SOLID = 13,
  FFMOUNT_7Z_IS_ENCRYPTED = 15,
  FFMOUNT_7Z_CRC = 19,
  FFMOUNT_7Z_BLOCK = 27,
  FFMOUNT_7Z_OFFSET = 36,
  FFMOUNT_7Z_PHYSICAL_SIZE = 44,
  FFMOUNT_7Z_MODE = 53,
  FFMOUNT_7Z_LINK = 54,
  FFMOUNT_7Z_IS_STREAM = 63,
  FFMOUNT_7Z_IS_INTERNAL = 64,
  FFMOUNT_7Z_IS_DELETED = 65,
  FFMOUNT_7Z_ERROR_FLAGS = 71,
  FFMOUNT_7Z_HARD_LINK = 90,
} ffmount_7z_property;

/// Returns an integer or a Boolean. Returns false if the entry does not have the property.
bool ffmount_7z_number(ffmount_7z_archive *archive, uint32_t entry, ffmount_7z_property property, uint64_t *value);

/// Returns a time, in 100 ns since 1601, and its remainder in nanoseconds.
bool ffmount_7z_time(
    ffmount_7z_archive *archive, uint32_t entry, ffmount_7z_property property, uint64_t *value, uint32_t *nanoseconds);

/// Returns the length of a text in characters and its first `room` characters. Returns -1 if the entry does not have
/// it.
int64_t ffmount_7z_text(
    ffmount_7z_archive *archive, uint32_t entry, ffmount_7z_property property, uint32_t *characters, size_t room);

/// Returns a number of the archive itself.
bool ffmount_7z_archive_number(ffmount_7z_archive *archive, ffmount_7z_property property, uint64_t *value);

/// Copies the reparse point of an entry of Windows into a buffer. Returns its size, or 0 if there is none of at most
/// `room` bytes.
size_t ffmount_7z_reparse_point(ffmount_7z_archive *archive, uint32_t entry, void *buffer, size_t room);

typedef struct ffmount_7z_stream ffmount_7z_stream;

/// Returns the bytes of an entry, to be read at any offset. Returns NULL if they can only be decoded from the start.
ffmount_7z_stream *ffmount_7z_stream_open(ffmount_7z_archive *archive, uint32_t entry);
void ffmount_7z_stream_close(ffmount_7z_stream *stream);

/// Fills a buffer from an offset. Returns the number of bytes, which is smaller at the end, or -1.
int64_t ffmount_7z_stream_read(ffmount_7z_stream *stream, uint64_t offset, void *buffer, size_t count);

/// A range of an entry that the archive contains unchanged.
typedef struct {
  /// The offset in the entry.
  uint64_t offset;
  uint64_t count;
  /// The offset in the archive.
  uint64_t start;
} ffmount_7z_area;

/// Finds the ranges of the first `size` bytes of a stream that the archive contains unchanged, in order. All other bytes
/// are zeros. Reads only the archive's structures.
///
/// Returns the number of ranges. Returns -1 if other bytes have to be decoded, if there are more than `room` ranges, or
/// if `budget` does not suffice. Each call of the library takes 1 from it, and each 16 KiB of zeros or MiB of bytes.
int64_t ffmount_7z_stream_areas(
    ffmount_7z_archive *archive, ffmount_7z_stream *stream, uint64_t size, ffmount_7z_area *areas, size_t room,
    uint64_t *budget);

typedef struct {
  void *context;
  /// Called before the bytes of an entry. Returns whether they are wanted.
  bool (*begin)(void *context, uint32_t entry);
  /// Takes the next bytes. Returns false to end.
  bool (*write)(void *context, const void *bytes, size_t count);
  /// Called after them. Returns false to end.
  bool (*end)(void *context, ffmount_7z_result result);
} ffmount_7z_output;

/// Decodes some entries, ordered by their numbers.
ffmount_7z_result ffmount_7z_extract(
    ffmount_7z_archive *archive, const uint32_t *entries, uint32_t count, const ffmount_7z_output *output);

#ifdef __cplusplus
}
#endif
