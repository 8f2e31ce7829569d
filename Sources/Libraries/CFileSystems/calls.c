#include "calls.h"

ffmount_fs_result ffmount_fs_open(ffmount_fs_kind kind, const ffmount_fs_input *input, ffmount_fs **fs) {
  return kind == FFMOUNT_FS_EXT ? ffmount_ext_open(input, fs) : ffmount_tsk_open(kind, input, fs);
}

void ffmount_fs_close(ffmount_fs *fs) { fs->calls->close(fs); }

uint64_t ffmount_fs_root(ffmount_fs *fs) { return fs->calls->root(fs); }

uint64_t ffmount_fs_size(ffmount_fs *fs) { return fs->calls->size(fs); }

bool ffmount_fs_needs_recovery(ffmount_fs *fs) { return fs->calls->needs_recovery && fs->calls->needs_recovery(fs); }

static ffmount_fs_result result(ffmount_fs *fs, ffmount_fs_result result) {
  return fs->is_stopped ? FFMOUNT_FS_STOPPED : result;
}

ffmount_fs_result ffmount_fs_list(ffmount_fs *fs, uint64_t number, void *context, ffmount_fs_name name) {
  return result(fs, fs->calls->list(fs, number, context, name));
}

ffmount_fs_result ffmount_fs_stat(ffmount_fs *fs, uint64_t number, ffmount_fs_file *file) {
  *file = (ffmount_fs_file){0};
  return result(fs, fs->calls->stat(fs, number, file));
}

int64_t ffmount_fs_link(ffmount_fs *fs, uint64_t number, void *buffer, size_t room) {
  return fs->calls->link(fs, number, buffer, room);
}

int64_t ffmount_fs_areas(ffmount_fs *fs, uint64_t number, ffmount_fs_area *areas, size_t room) {
  return fs->calls->areas(fs, number, areas, room);
}

int64_t ffmount_fs_read(ffmount_fs *fs, uint64_t number, uint64_t offset, void *buffer, size_t count) {
  return fs->calls->read(fs, number, offset, buffer, count);
}

bool ffmount_fs_input_read(ffmount_fs *fs, uint64_t offset, void *buffer, size_t count) {
  if (offset > fs->input.size || count > fs->input.size - offset) return false;
  for (size_t done = 0; done < count;) {
    int64_t read = fs->input.read(fs->input.context, offset + done, (char *)buffer + done, count - done);
    if (read < 0) fs->is_stopped = true;
    if (read <= 0) return false;
    done += (size_t)read;
  }
  return true;
}

bool ffmount_fs_add_area(ffmount_fs_area *areas, size_t room, int64_t *count, ffmount_fs_area area) {
  ffmount_fs_area *last = *count > 0 ? &areas[*count - 1] : NULL;
  if (last && last->offset + last->count == area.offset && last->start + last->count == area.start) {
    last->count += area.count;
    return true;
  }
  if ((size_t)*count == room) return false;
  areas[(*count)++] = area;
  return true;
}
