#include "calls.h"

#include <errno.h>
#include <ext2fs/ext2fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

// ext2, ext3 and ext4 by libext2fs, of the file system's own authors.

struct ext {
  ffmount_fs base;
  ext2_filsys fs;
};

/// The maximum number of blocks of a file that are found one by one.
static const uint64_t most_blocks = 1 << 20;

// MARK: The image

/// The image that is being opened: the library gives a name to the function that opens it.
static __thread struct ext *opened;

static struct struct_io_manager manager;

static errcode_t open_image(const char *name, int flags, io_channel *channel) {
  (void)flags;
  io_channel io = calloc(1, sizeof *io);
  if (!io) return EXT2_ET_NO_MEMORY;
  io->name = strdup(name);
  if (!io->name) {
    free(io);
    return EXT2_ET_NO_MEMORY;
  }
  io->magic = EXT2_ET_MAGIC_IO_CHANNEL;
  io->manager = &manager;
  io->block_size = 1024;
  io->refcount = 1;
  io->private_data = opened;
  *channel = io;
  return 0;
}

static errcode_t close_image(io_channel channel) {
  if (--channel->refcount > 0) return 0;
  free(channel->name);
  free(channel);
  return 0;
}

static errcode_t set_block_size(io_channel channel, int size) {
  channel->block_size = size;
  return 0;
}

/// Reads blocks, or as many bytes as a negative count says.
static errcode_t read_blocks(io_channel channel, unsigned long long block, int count, void *data) {
  struct ext *ext = channel->private_data;
  size_t size = count < 0 ? (size_t)-(int64_t)count : (size_t)count * (size_t)channel->block_size;
  if (block > ext->base.input.size / (uint64_t)channel->block_size) return EXT2_ET_SHORT_READ;
  return ffmount_fs_input_read(&ext->base, block * (uint64_t)channel->block_size, data, size) ? 0 : EXT2_ET_SHORT_READ;
}

static errcode_t read_few_blocks(io_channel channel, unsigned long block, int count, void *data) {
  return read_blocks(channel, block, count, data);
}

static errcode_t flush(io_channel channel) {
  (void)channel;
  return 0;
}

static struct struct_io_manager manager = {
    .magic = EXT2_ET_MAGIC_IO_MANAGER,
    .name = "image",
    .open = open_image,
    .close = close_image,
    .set_blksize = set_block_size,
    .read_blk = read_few_blocks,
    .read_blk64 = read_blocks,
    .flush = flush,
};

static ffmount_fs_result result(errcode_t error) {
  switch (error) {
    case 0: return FFMOUNT_FS_OK;
    case EXT2_ET_NO_MEMORY:
    case ENOMEM: return FFMOUNT_FS_NO_MEMORY;
    case EXT2_ET_UNSUPP_FEATURE:
    case EXT2_ET_RO_UNSUPP_FEATURE:
    case EXT2_ET_REV_TOO_HIGH: return FFMOUNT_FS_UNSUPPORTED;
    default: return FFMOUNT_FS_DAMAGED;
  }
}

// MARK: Files

static void close_ext(ffmount_fs *fs) {
  struct ext *ext = (struct ext *)fs;
  if (ext->fs) ext2fs_close_free(&ext->fs);
  free(ext);
}

static uint64_t root(ffmount_fs *fs) {
  (void)fs;
  return EXT2_ROOT_INO;
}

static uint64_t size(ffmount_fs *fs) {
  ext2_filsys ext = ((struct ext *)fs)->fs;
  return ext2fs_blocks_count(ext->super) * ext->blocksize;
}

static bool needs_recovery(ffmount_fs *fs) {
  return ext2fs_has_feature_journal_needs_recovery(((struct ext *)fs)->fs->super);
}

/// Reads an inode. Its fields after those of ext2 are zeros if it is short.
static errcode_t read_inode(struct ext *ext, uint64_t number, struct ext2_inode_large *inode) {
  memset(inode, 0, sizeof *inode);
  if (number == 0 || number > ext->fs->super->s_inodes_count) return EXT2_ET_BAD_INODE_NUM;
  return ext2fs_read_inode_full(ext->fs, (ext2_ino_t)number, (struct ext2_inode *)inode, sizeof *inode);
}

struct listing {
  void *context;
  ffmount_fs_name name;
};

static int add_name(
    ext2_ino_t folder, int kind, struct ext2_dir_entry *entry, int offset, int size, char *buffer, void *context) {
  (void)folder, (void)kind, (void)offset, (void)size, (void)buffer;
  struct listing *listing = context;
  size_t count = (size_t)ext2fs_dirent_name_len(entry);
  // The kind is wrong for a folder in an inode.
  bool is_own = count == 0 || (entry->name[0] == '.' && (count == 1 || (count == 2 && entry->name[1] == '.')));
  if (is_own || entry->inode == 0) return 0;
  return listing->name(listing->context, entry->name, count, entry->inode, false) ? 0 : DIRENT_ABORT;
}

static ffmount_fs_result list(ffmount_fs *fs, uint64_t number, void *context, ffmount_fs_name name) {
  struct ext *ext = (struct ext *)fs;
  struct ext2_inode_large inode;
  errcode_t error = read_inode(ext, number, &inode);
  if (error) return result(error);
  // The names of an encrypted folder are not text.
  if (inode.i_flags & EXT4_ENCRYPT_FL) return FFMOUNT_FS_UNSUPPORTED;
  struct listing listing = {context, name};
  return result(ext2fs_dir_iterate2(ext->fs, (ext2_ino_t)number, 0, NULL, add_name, &listing));
}

static ffmount_fs_result stat_file(ffmount_fs *fs, uint64_t number, ffmount_fs_file *file) {
  struct ext *ext = (struct ext *)fs;
  struct ext2_inode_large inode;
  errcode_t error = read_inode(ext, number, &inode);
  if (error) return result(error);
  file->mode = inode.i_mode;
  file->size = EXT2_I_SIZE(&inode);
  file->seconds = (int32_t)inode.i_mtime;
  // The fields are there if the inode says that it is so long.
  size_t end = offsetof(struct ext2_inode_large, i_mtime_extra) + sizeof inode.i_mtime_extra;
  size_t usual = EXT2_GOOD_OLD_INODE_SIZE;
  if ((size_t)EXT2_INODE_SIZE(ext->fs->super) > usual && usual + inode.i_extra_isize >= end) {
    file->seconds += (int64_t)(inode.i_mtime_extra & 3) << 32;
    file->nanoseconds = inode.i_mtime_extra >> 2;
  }
  file->is_encrypted = (inode.i_flags & EXT4_ENCRYPT_FL) != 0;
  return FFMOUNT_FS_OK;
}

/// Reads bytes of a file that are in its inode. What follows them is zeros.
static int64_t read_inline(
    struct ext *ext, uint64_t number, struct ext2_inode_large *inode, uint64_t offset, void *buffer, size_t count) {
  size_t size;
  if (ext2fs_inline_data_size(ext->fs, (ext2_ino_t)number, &size) || size > ext->fs->blocksize) return -1;
  char *bytes = malloc(size ? size : 1);
  if (!bytes) return -1;
  bool is_read = !ext2fs_inline_data_get(ext->fs, (ext2_ino_t)number, (struct ext2_inode *)inode, bytes, &size);
  uint64_t end = EXT2_I_SIZE(inode);
  size_t wanted = offset >= end ? 0 : count < end - offset ? count : (size_t)(end - offset);
  size_t known = offset >= size ? 0 : wanted < size - offset ? wanted : (size_t)(size - offset);
  if (is_read) {
    memcpy(buffer, bytes + (known ? offset : 0), known);
    memset((char *)buffer + known, 0, wanted - known);
  }
  free(bytes);
  return is_read ? (int64_t)wanted : -1;
}

static int64_t read_file(ffmount_fs *fs, uint64_t number, uint64_t offset, void *buffer, size_t count) {
  struct ext *ext = (struct ext *)fs;
  struct ext2_inode_large inode;
  ext2_file_t file;
  if (read_inode(ext, number, &inode)) return -1;
  if (inode.i_flags & EXT4_INLINE_DATA_FL) return read_inline(ext, number, &inode, offset, buffer, count);
  if (ext2fs_file_open2(ext->fs, (ext2_ino_t)number, (struct ext2_inode *)&inode, 0, &file)) return -1;
  int64_t done = -1;
  if (!ext2fs_file_llseek(file, offset, EXT2_SEEK_SET, NULL)) {
    for (done = 0; (size_t)done < count;) {
      unsigned int read = 0;
      size_t wanted = count - (size_t)done;
      if (wanted > 1 << 20) wanted = 1 << 20;
      if (ext2fs_file_read(file, (char *)buffer + done, (unsigned int)wanted, &read)) {
        done = -1;
        break;
      }
      if (read == 0) break;
      done += read;
    }
  }
  ext2fs_file_close(file);
  return done;
}

static int64_t read_link(ffmount_fs *fs, uint64_t number, void *buffer, size_t room) {
  struct ext *ext = (struct ext *)fs;
  struct ext2_inode_large inode;
  if (read_inode(ext, number, &inode) || !LINUX_S_ISLNK(inode.i_mode) || inode.i_flags & EXT4_ENCRYPT_FL) return -1;
  uint64_t size = EXT2_I_SIZE(&inode);
  if (size > room) return -1;
  if (ext2fs_is_fast_symlink((struct ext2_inode *)&inode)) {
    if (size > sizeof inode.i_block) return -1;
    memcpy(buffer, inode.i_block, size);
    return (int64_t)size;
  }
  return read_file(fs, number, 0, buffer, size);
}

// MARK: Ranges

struct blocks {
  ffmount_fs_area *areas;
  size_t room;
  int64_t count;
  uint64_t block_size;
  uint64_t done;
  bool is_whole;
};

static int add_block(ext2_filsys fs, blk64_t *block, e2_blkcnt_t place, blk64_t parent, int offset, void *context) {
  (void)fs, (void)parent, (void)offset;
  struct blocks *found = context;
  ffmount_fs_area area = {(uint64_t)place * found->block_size, found->block_size, *block * found->block_size};
  found->is_whole =
      place >= 0 && ++found->done <= most_blocks && ffmount_fs_add_area(found->areas, found->room, &found->count, area);
  return found->is_whole ? 0 : BLOCK_ABORT;
}

static errcode_t add_extents(struct ext *ext, uint64_t number, struct ext2_inode_large *inode, struct blocks *found) {
  ext2_extent_handle_t handle;
  errcode_t error = ext2fs_extent_open2(ext->fs, (ext2_ino_t)number, (struct ext2_inode *)inode, &handle);
  if (error) return error;
  struct ext2fs_extent extent;
  int operation = EXT2_EXTENT_ROOT;
  while (found->is_whole && !(error = ext2fs_extent_get(handle, operation, &extent))) {
    operation = EXT2_EXTENT_NEXT;
    bool is_used = (extent.e_flags & EXT2_EXTENT_FLAGS_LEAF) && !(extent.e_flags & EXT2_EXTENT_FLAGS_UNINIT);
    if (!is_used || extent.e_flags & EXT2_EXTENT_FLAGS_SECOND_VISIT || extent.e_len == 0) continue;
    ffmount_fs_area area = {
        extent.e_lblk * found->block_size, extent.e_len * found->block_size, extent.e_pblk * found->block_size};
    found->is_whole =
        ++found->done <= most_blocks && ffmount_fs_add_area(found->areas, found->room, &found->count, area);
  }
  ext2fs_extent_free(handle);
  return error == EXT2_ET_EXTENT_NO_NEXT || error == EXT2_ET_NO_CURRENT_NODE ? 0 : error;
}

static int64_t areas(ffmount_fs *fs, uint64_t number, ffmount_fs_area *areas, size_t room) {
  struct ext *ext = (struct ext *)fs;
  struct ext2_inode_large inode;
  if (read_inode(ext, number, &inode) || inode.i_flags & (EXT4_INLINE_DATA_FL | EXT4_ENCRYPT_FL)) return -1;
  struct blocks found = {areas, room, 0, ext->fs->blocksize, 0, true};
  errcode_t error =
      inode.i_flags & EXT4_EXTENTS_FL
          ? add_extents(ext, number, &inode, &found)
          : ext2fs_block_iterate3(
                ext->fs, (ext2_ino_t)number, BLOCK_FLAG_DATA_ONLY | BLOCK_FLAG_READ_ONLY, NULL, add_block, &found);
  if (error || !found.is_whole) return -1;
  // The last block goes on after the end of the file.
  uint64_t size = EXT2_I_SIZE(&inode);
  while (found.count > 0 && areas[found.count - 1].offset >= size) found.count--;
  ffmount_fs_area *last = found.count > 0 ? &areas[found.count - 1] : NULL;
  if (last && last->count > size - last->offset) last->count = size - last->offset;
  return found.count;
}

static const struct ffmount_fs_calls calls = {
    close_ext, root, size, needs_recovery, list, stat_file, read_link, areas, read_file};

ffmount_fs_result ffmount_ext_open(const ffmount_fs_input *input, ffmount_fs **fs) {
  struct ext *ext = calloc(1, sizeof *ext);
  if (!ext) return FFMOUNT_FS_NO_MEMORY;
  ext->base.calls = &calls;
  ext->base.input = *input;
  opened = ext;
  errcode_t error = ext2fs_open2("image", NULL, EXT2_FLAG_64BITS, 0, 0, &manager, &ext->fs);
  if (!error) {
    *fs = &ext->base;
    return FFMOUNT_FS_OK;
  }
  bool is_stopped = ext->base.is_stopped;
  free(ext);
  return is_stopped ? FFMOUNT_FS_STOPPED : result(error);
}
