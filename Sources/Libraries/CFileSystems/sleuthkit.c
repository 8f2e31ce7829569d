#define _GNU_SOURCE
#include "calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <tsk/libtsk.h>

// NTFS and exFAT by The Sleuth Kit, and deleted files of other file systems.

struct tsk {
  /// The library regards it as its own image.
  TSK_IMG_INFO image;
  ffmount_fs base;
  ffmount_fs_kind kind;
  TSK_FS_INFO *fs;
  /// The file that was opened last.
  TSK_FS_FILE *file;
};

static struct {
  __typeof__(&tsk_img_open_external) img_open_external;
  __typeof__(&tsk_img_close) img_close;
  __typeof__(&tsk_fs_open_img) fs_open_img;
  __typeof__(&tsk_fs_close) fs_close;
  __typeof__(&tsk_fs_dir_open_meta) dir_open_meta;
  __typeof__(&tsk_fs_dir_getsize) dir_getsize;
  __typeof__(&tsk_fs_dir_get_name) dir_get_name;
  __typeof__(&tsk_fs_dir_close) dir_close;
  __typeof__(&tsk_fs_file_open_meta) file_open_meta;
  __typeof__(&tsk_fs_file_close) file_close;
  __typeof__(&tsk_fs_file_attr_get) attr_get;
  __typeof__(&tsk_fs_file_attr_get_type) attr_get_type;
  __typeof__(&tsk_fs_attr_read) attr_read;
  __typeof__(&tsk_error_get_errno) error_number;
  __typeof__(&tsk_error_reset) error_reset;
} tsk;

static bool is_loaded;

/// Looks up a function of the library. Returns false if it has none of this name.
static bool find(void *library, const char *name, void *function) {
  void *found = dlsym(library, name);
  memcpy(function, &found, sizeof found);
  return found != NULL;
}

bool ffmount_fs_load(const char *name) {
  // Both libraries have a function ext2fs_open.
  void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!library) return false;
  is_loaded = find(library, "tsk_img_open_external", &tsk.img_open_external) &&
              find(library, "tsk_img_close", &tsk.img_close) && find(library, "tsk_fs_open_img", &tsk.fs_open_img) &&
              find(library, "tsk_fs_close", &tsk.fs_close) &&
              find(library, "tsk_fs_dir_open_meta", &tsk.dir_open_meta) &&
              find(library, "tsk_fs_dir_getsize", &tsk.dir_getsize) &&
              find(library, "tsk_fs_dir_get_name", &tsk.dir_get_name) &&
              find(library, "tsk_fs_dir_close", &tsk.dir_close) &&
              find(library, "tsk_fs_file_open_meta", &tsk.file_open_meta) &&
              find(library, "tsk_fs_file_close", &tsk.file_close) &&
              find(library, "tsk_fs_file_attr_get", &tsk.attr_get) &&
              find(library, "tsk_fs_file_attr_get_type", &tsk.attr_get_type) &&
              find(library, "tsk_fs_attr_read", &tsk.attr_read) &&
              find(library, "tsk_error_get_errno", &tsk.error_number) &&
              find(library, "tsk_error_reset", &tsk.error_reset);
  return is_loaded;
}

// MARK: The image

static struct tsk *of(ffmount_fs *fs) { return (struct tsk *)((char *)fs - offsetof(struct tsk, base)); }

static ssize_t read_image(TSK_IMG_INFO *image, TSK_OFF_T offset, char *buffer, size_t count) {
  struct tsk *this = (struct tsk *)image;
  uint64_t size = this->base.input.size;
  if (offset < 0 || (uint64_t)offset >= size) return -1;
  // The library reads whole blocks of its cache.
  if (count > size - (uint64_t)offset) count = size - (uint64_t)offset;
  return ffmount_fs_input_read(&this->base, (uint64_t)offset, buffer, count) ? (ssize_t)count : -1;
}

static void close_image(TSK_IMG_INFO *image) { (void)image; }

static void describe_image(TSK_IMG_INFO *image, FILE *file) { (void)image, (void)file; }

/// Returns the result of a call that failed.
static ffmount_fs_result failure(void) {
  uint32_t number = tsk.error_number();
  if (number == TSK_ERR_AUX_MALLOC) return FFMOUNT_FS_NO_MEMORY;
  return number == TSK_ERR_FS_UNSUPTYPE || number == TSK_ERR_FS_UNSUPFUNC ? FFMOUNT_FS_UNSUPPORTED : FFMOUNT_FS_DAMAGED;
}

static void close_tsk(ffmount_fs *fs) {
  struct tsk *this = of(fs);
  if (this->file) tsk.file_close(this->file);
  if (this->fs) tsk.fs_close(this->fs);
  tsk.img_close(&this->image);
  free(this);
}

static uint64_t root(ffmount_fs *fs) { return of(fs)->fs->root_inum; }

static uint64_t size(ffmount_fs *fs) { return of(fs)->fs->block_count * of(fs)->fs->block_size; }

// MARK: Names

/// Returns a file. Returns NULL if it cannot be read.
static TSK_FS_FILE *file(struct tsk *this, uint64_t number) {
  if (this->file && this->file->meta && this->file->meta->addr == number) return this->file;
  if (this->file) tsk.file_close(this->file);
  tsk.error_reset();
  this->file = tsk.file_open_meta(this->fs, NULL, number);
  if (this->file && !this->file->meta) {
    tsk.file_close(this->file);
    this->file = NULL;
  }
  return this->file;
}

static bool has_end(const char *text, size_t count, const char *end) {
  size_t length = strlen(end);
  return count >= length && memcmp(text + count - length, end, length) == 0;
}

/// Whether a name belongs to the file system itself, or was added by the library.
static bool is_internal(struct tsk *this, uint64_t folder, const TSK_FS_NAME *name, size_t count) {
  if (name->type == TSK_FS_NAME_TYPE_VIRT || name->type == TSK_FS_NAME_TYPE_VIRT_DIR) return true;
  if (strcmp(name->name, ".") == 0 || strcmp(name->name, "..") == 0) return true;
  bool is_top = folder == this->fs->root_inum;
  switch (this->kind) {
    // The first 24 records of the master file table are the file system's own. Its root is one of them.
    case FFMOUNT_FS_NTFS: return name->meta_addr < 24;
    case FFMOUNT_FS_EXFAT:
      if (is_top && (strcmp(name->name, "$ALLOC_BITMAP") == 0 || strcmp(name->name, "$UPCASE_TABLE") == 0 ||
                     strcmp(name->name, "$VOLUME_GUID") == 0 || strcmp(name->name, "$TEX_FAT") == 0 ||
                     strcmp(name->name, "$ACT") == 0)) {
        return true;
      }
      // fall through
    case FFMOUNT_FS_FAT: return is_top && has_end(name->name, count, " (Volume Label Entry)");
    default: return false;
  }
}

/// Whether the file of a deleted name has not been used for another since.
static bool is_deleted(struct tsk *this, const TSK_FS_NAME *name) {
  TSK_FS_FILE *found = file(this, name->meta_addr);
  if (!found || !(found->meta->flags & TSK_FS_META_FLAG_UNALLOC)) return false;
  // NTFS counts the uses of a record.
  if (this->kind != FFMOUNT_FS_NTFS) return true;
  return found->meta->seq == name->meta_seq || found->meta->seq == name->meta_seq + 1;
}

static ffmount_fs_result list(ffmount_fs *fs, uint64_t number, void *context, ffmount_fs_name take) {
  struct tsk *this = of(fs);
  tsk.error_reset();
  TSK_FS_DIR *folder = tsk.dir_open_meta(this->fs, number);
  if (!folder) return failure();
  size_t count = tsk.dir_getsize(folder);
  for (size_t index = 0; index < count; index++) {
    const TSK_FS_NAME *name = tsk.dir_get_name(folder, index);
    if (!name || !name->name || !name->name[0] || this->base.is_stopped) continue;
    size_t length = strlen(name->name);
    if (is_internal(this, number, name, length)) continue;
    bool is_live = !(name->flags & TSK_FS_NAME_FLAG_UNALLOC);
    if (!is_live && !is_deleted(this, name)) continue;
    if (!take(context, name->name, length, name->meta_addr, !is_live)) break;
  }
  tsk.dir_close(folder);
  return FFMOUNT_FS_OK;
}

// MARK: Entries of exFAT

/// Reads a little-endian number of `count` bytes of the image. Returns false if it cannot be read.
static bool read_number(struct tsk *this, uint64_t offset, size_t count, uint64_t *number) {
  uint8_t bytes[8];
  if (!ffmount_fs_input_read(&this->base, offset, bytes, count)) return false;
  *number = 0;
  for (size_t index = count; index-- > 0;) *number = *number << 8 | bytes[index];
  return true;
}

/// Finds the offset of a directory entry of exFAT that is `following` entries after a file's own. The library's numbers of
/// files are those of their entries.
static bool find_entry(struct tsk *this, TSK_FS_FILE *file, unsigned following, uint64_t *place) {
  enum { entry_size = 32, first_number = 3 };
  uint64_t sector_shift, cluster_shift, fat, heap;
  if (!read_number(this, 108, 1, &sector_shift) || !read_number(this, 109, 1, &cluster_shift) ||
      !read_number(this, 80, 4, &fat) || !read_number(this, 88, 4, &heap)) {
    return false;
  }
  uint64_t number = file->meta->addr;
  if (sector_shift < 9 || sector_shift > 12 || cluster_shift > 25 - sector_shift || number < first_number) return false;
  uint64_t cluster_size = (uint64_t)1 << (sector_shift + cluster_shift);
  uint64_t own = (number - first_number) * entry_size, cluster = own / cluster_size;
  *place = own + following * entry_size;
  if (*place / cluster_size != cluster) {
    uint64_t next;
    if (!read_number(this, (fat << sector_shift) + 4 * (cluster + 2), 4, &next)) return false;
    // A folder without a chain is contiguous.
    *place -= (cluster + 1) * cluster_size;
    *place += (next < 2 ? cluster + 1 : next - 2) * cluster_size;
  }
  *place += heap << sector_shift;
  return true;
}

/// Finds how many bytes of a file were ever written (ValidDataLength, 7.6.5). The library does not know that.
static bool find_written_size(struct tsk *this, TSK_FS_FILE *file, uint64_t *written) {
  uint64_t place, type, size;
  if (!find_entry(this, file, 1, &place) || !read_number(this, place, 1, &type) || (type & 0x7f) != 0x40) return false;
  return read_number(this, place + 24, 8, &size) && size == (uint64_t)file->meta->size &&
         read_number(this, place + 8, 8, written);
}

/// Reads the time of the last change (7.4.5 to 7.4.10). The library knows neither its odd seconds nor its zone.
static void read_time(struct tsk *this, TSK_FS_FILE *file, ffmount_fs_file *result) {
  uint64_t place, stamp, hundredths, zone;
  if (!find_entry(this, file, 0, &place) || !read_number(this, place + 12, 4, &stamp) ||
      !read_number(this, place + 21, 1, &hundredths) || !read_number(this, place + 23, 1, &zone)) {
    return;
  }
  struct tm parts = {
      .tm_year = (int)(stamp >> 25) + 80, .tm_mon = (int)(stamp >> 21 & 15) - 1, .tm_mday = stamp >> 16 & 31,
      .tm_hour = stamp >> 11 & 31, .tm_min = stamp >> 5 & 63, .tm_sec = (int)(stamp & 31) * 2, .tm_isdst = -1};
  // Quarters of an hour, as a number of seven bits.
  int quarters = (int)(zone & 0x7f) - (zone & 0x40 ? 0x80 : 0);
  result->seconds = (zone & 0x80 ? timegm(&parts) - quarters * 900 : mktime(&parts)) + (int64_t)(hundredths / 100);
  result->nanoseconds = (uint32_t)(hundredths % 100) * 10000000;
}

// MARK: Files

/// Returns a file's bytes. Returns NULL if it has none.
static const TSK_FS_ATTR *content(TSK_FS_FILE *file) { return tsk.attr_get(file); }

static const TSK_FS_ATTR *reparse_point(struct tsk *this, TSK_FS_FILE *file) {
  return this->kind == FFMOUNT_FS_NTFS ? tsk.attr_get_type(file, TSK_FS_ATTR_TYPE_NTFS_REPARSE, 0, 0) : NULL;
}

static uint32_t type(TSK_FS_META_TYPE_ENUM type) {
  switch (type) {
    case TSK_FS_META_TYPE_DIR: return S_IFDIR;
    case TSK_FS_META_TYPE_LNK: return S_IFLNK;
    case TSK_FS_META_TYPE_FIFO: return S_IFIFO;
    case TSK_FS_META_TYPE_CHR: return S_IFCHR;
    case TSK_FS_META_TYPE_BLK: return S_IFBLK;
    case TSK_FS_META_TYPE_SOCK: return S_IFSOCK;
    default: return S_IFREG;
  }
}

static ffmount_fs_result stat_file(ffmount_fs *fs, uint64_t number, ffmount_fs_file *result) {
  struct tsk *this = of(fs);
  TSK_FS_FILE *found = file(this, number);
  if (!found) return failure();
  const TSK_FS_META *meta = found->meta;
  result->mode = type(meta->type);
  bool is_folder = result->mode == S_IFDIR;
  if (this->kind == FFMOUNT_FS_OLD_EXT) {
    result->mode |= meta->mode & 0777;
  } else {
    // Windows knows read-only files alone.
    result->mode |= is_folder ? 0755 : meta->mode & 0222 ? 0644 : 0444;
  }
  const TSK_FS_ATTR *bytes = is_folder ? NULL : content(found);
  if (bytes && bytes->size > 0) result->size = (uint64_t)bytes->size;
  result->seconds = meta->mtime;
  result->nanoseconds = meta->mtime_nano;
  if (this->kind == FFMOUNT_FS_EXFAT) read_time(this, found, result);
  result->is_encrypted = bytes && bytes->flags & TSK_FS_ATTR_ENC;
  result->is_deleted = (meta->flags & TSK_FS_META_FLAG_UNALLOC) != 0;
  result->has_reparse_point = reparse_point(this, found) != NULL;
  return FFMOUNT_FS_OK;
}

static int64_t read_link(ffmount_fs *fs, uint64_t number, void *buffer, size_t room) {
  struct tsk *this = of(fs);
  TSK_FS_FILE *found = file(this, number);
  if (!found) return -1;
  const TSK_FS_ATTR *point = reparse_point(this, found);
  if (point) {
    if (point->size < 0 || (uint64_t)point->size > room) return -1;
    return tsk.attr_read(point, 0, buffer, (size_t)point->size, TSK_FS_FILE_READ_FLAG_NONE);
  }
  size_t size = found->meta->link ? strlen(found->meta->link) : 0;
  if (size == 0 || size > room) return -1;
  memcpy(buffer, found->meta->link, size);
  return (int64_t)size;
}

/// Finds how many of a file's bytes were ever written. The others are zeros.
static bool written_size(struct tsk *this, TSK_FS_FILE *file, const TSK_FS_ATTR *bytes, uint64_t *written) {
  uint64_t size = (uint64_t)bytes->size;
  *written = bytes->flags & TSK_FS_ATTR_NONRES && bytes->nrd.initsize < bytes->size ? (uint64_t)bytes->nrd.initsize : size;
  if (this->kind == FFMOUNT_FS_EXFAT && size > 0 && !find_written_size(this, file, written)) return false;
  if (*written > size) *written = size;
  return true;
}

static int64_t areas(ffmount_fs *fs, uint64_t number, ffmount_fs_area *areas, size_t room) {
  struct tsk *this = of(fs);
  TSK_FS_FILE *found = file(this, number);
  const TSK_FS_ATTR *bytes = found ? content(found) : NULL;
  TSK_FS_ATTR_FLAG_ENUM special = TSK_FS_ATTR_RES | TSK_FS_ATTR_ENC | TSK_FS_ATTR_COMP;
  if (!bytes || bytes->flags & special || !(bytes->flags & TSK_FS_ATTR_NONRES) || bytes->nrd.skiplen) return -1;
  uint64_t block = this->fs->block_size, size;
  if (!written_size(this, found, bytes, &size)) return -1;
  int64_t count = 0;
  uint64_t end = 0;
  for (TSK_FS_ATTR_RUN *run = bytes->nrd.run; run; run = run->next) {
    if (run->flags & (TSK_FS_ATTR_RUN_FLAG_FILLER | TSK_FS_ATTR_RUN_FLAG_ENCRYPTED)) return -1;
    if (run->len == 0) continue;
    if (run->offset > UINT64_MAX / 2 / block || run->addr > UINT64_MAX / 2 / block || run->len > UINT64_MAX / 2 / block) {
      return -1;
    }
    end = (run->offset + run->len) * block;
    if (run->flags & TSK_FS_ATTR_RUN_FLAG_SPARSE) continue;
    ffmount_fs_area area = {run->offset * block, run->len * block, run->addr * block};
    if (area.offset >= size) break;
    if (area.count > size - area.offset) area.count = size - area.offset;
    if (!ffmount_fs_add_area(areas, room, &count, area)) return -1;
  }
  // Other files have used the rest of a deleted file.
  return end < size ? -1 : count;
}

static int64_t read_file(ffmount_fs *fs, uint64_t number, uint64_t offset, void *buffer, size_t count) {
  struct tsk *this = of(fs);
  TSK_FS_FILE *found = file(this, number);
  const TSK_FS_ATTR *bytes = found ? content(found) : NULL;
  if (!bytes || bytes->size < 0) return -1;
  uint64_t size = (uint64_t)bytes->size;
  if (offset >= size) return 0;
  if (count > size - offset) count = size - offset;
  uint64_t written;
  if (!written_size(this, found, bytes, &written)) return -1;
  size_t zeros = written <= offset ? count : count > written - offset ? count - (size_t)(written - offset) : 0;
  tsk.error_reset();
  int64_t done = 0;
  if (zeros < count) {
    done = tsk.attr_read(bytes, (TSK_OFF_T)offset, buffer, count - zeros, TSK_FS_FILE_READ_FLAG_NONE);
    if (done < (int64_t)(count - zeros)) return done;
  }
  memset((char *)buffer + done, 0, zeros);
  return done + (int64_t)zeros;
}

static const struct ffmount_fs_calls calls = {
    close_tsk, root, size, NULL, list, stat_file, read_link, areas, read_file};

ffmount_fs_result ffmount_tsk_open(ffmount_fs_kind kind, const ffmount_fs_input *input, ffmount_fs **fs) {
  if (!is_loaded) return FFMOUNT_FS_ABSENT;
  if (input->size > INT64_MAX) return FFMOUNT_FS_DAMAGED;
  struct tsk *this = calloc(1, sizeof *this);
  if (!this) return FFMOUNT_FS_NO_MEMORY;
  this->base.calls = &calls;
  this->base.input = *input;
  this->kind = kind;
  tsk.error_reset();
  TSK_IMG_INFO *image =
      tsk.img_open_external(this, (TSK_OFF_T)input->size, 512, read_image, close_image, describe_image);
  if (!image) {
    free(this);
    return FFMOUNT_FS_DAMAGED;
  }
  TSK_FS_TYPE_ENUM type = kind == FFMOUNT_FS_NTFS    ? TSK_FS_TYPE_NTFS
                          : kind == FFMOUNT_FS_EXFAT ? TSK_FS_TYPE_EXFAT
                          : kind == FFMOUNT_FS_FAT   ? TSK_FS_TYPE_FAT_DETECT
                                                     : TSK_FS_TYPE_EXT_DETECT;
  this->fs = tsk.fs_open_img(image, 0, type);
  if (this->fs) {
    *fs = &this->base;
    return FFMOUNT_FS_OK;
  }
  ffmount_fs_result result = this->base.is_stopped ? FFMOUNT_FS_STOPPED : failure();
  close_tsk(&this->base);
  return result;
}
