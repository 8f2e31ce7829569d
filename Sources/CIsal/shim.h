#pragma once

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#include <stddef.h>

// C, because Swift does not import a field that is an array this long.
static inline size_t ffmount_inflate_head_size(void) { return offsetof(struct inflate_state, tmp_out_buffer); }
