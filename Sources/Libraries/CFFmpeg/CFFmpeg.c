#include "CFFmpeg.h"

// A callback whose last argument points to a pointer to a struct that Swift cannot name before it is complete.
static int refuse(AVFormatContext *container, AVIOContext **stream, const char *url, int flags, AVDictionary **options) {
  (void)container, (void)url, (void)flags, (void)options;
  *stream = NULL;
  return AVERROR(EPERM);
}

void ffmedia_open_nothing(AVFormatContext *container) { container->io_open = refuse; }
