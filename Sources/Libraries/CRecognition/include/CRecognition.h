#pragma once

#include <stddef.h>

// What Tesseract offers only in C++, not in its C interface: data that come from memory, and the height of lines.

#ifdef __cplusplus
extern "C" {
#endif

/// A language's data. The bytes are borrowed.
typedef struct {
  const char *name;
  const void *bytes;
  size_t count;
} ffscan_data;

/// Opens what Tesseract writes messages to, which is nothing; must be called once, before the sandbox is closed.
void ffscan_recognition_prepare(void);

/// Makes a recognizer for languages such as `deu+eng`, or for `osd`, scripts and orientations. Returns a TessBaseAPI, or
/// NULL when data are missing or damaged. The data are not needed any more afterwards. For one thread at a time.
void *ffscan_recognition_open(const ffscan_data *data, size_t count, const char *languages);

/// What a line's letters take from the lowest descender to the highest ascender, in pixels. `iterator`: a
/// TessPageIterator at the line.
float ffscan_recognition_line_height(const void *iterator);

#ifdef __cplusplus
}
#endif
