#pragma once

#include <lzma.h>
#include <stdlib.h>

// C, because Swift does not import a macro that is a braced initializer.
static inline lzma_stream ffmount_lzma_stream(void) { return (lzma_stream)LZMA_STREAM_INIT; }

// C, because liblzma before 5.4 has no function for it: the options that a block's header was decoded to.
static inline void ffmount_lzma_filters_free(lzma_filter *filters) {
  for (int i = 0; i < LZMA_FILTERS_MAX && filters[i].id != LZMA_VLI_UNKNOWN; i++) {
    free(filters[i].options);
    filters[i].options = NULL;
    filters[i].id = LZMA_VLI_UNKNOWN;
  }
}
