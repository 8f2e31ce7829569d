#pragma once

#include <gsf/gsf-infile-msole.h>
#include <gsf/gsf-infile.h>
#include <gsf/gsf-input-memory.h>
#include <gsf/gsf-input.h>
#include <gsf/gsf-utils.h>

/* What GLib's macros for its types are for; null if the bytes are no compound file. */
static inline GsfInfile *ffgsf_open(const void *bytes, size_t count) {
  GsfInput *input = gsf_input_memory_new((const guint8 *)bytes, (gsf_off_t)count, FALSE);
  if (!input)
    return 0;
  GError *error = 0;
  GsfInfile *file = gsf_infile_msole_new(input, &error);
  g_object_unref(input);
  g_clear_error(&error);
  return file;
}

/* The storage that a child of a compound file is; null if it is a stream. */
static inline GsfInfile *ffgsf_storage(GsfInput *child) {
  return GSF_IS_INFILE(child) && gsf_infile_num_children(GSF_INFILE(child)) >= 0 ? GSF_INFILE(child) : 0;
}
