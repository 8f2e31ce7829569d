#pragma once

#include <lzma.h>

// C, because Swift does not import a macro that is a braced initializer.
static inline lzma_stream ffmount_lzma_stream(void) { return (lzma_stream)LZMA_STREAM_INIT; }
