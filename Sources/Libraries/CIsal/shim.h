#pragma once

#include <isa-l.h>
#include <stddef.h>
#include <stdint.h>

// C, because Swift does not import array fields this long.

static inline size_t ffmount_inflate_head_size(void) { return offsetof(struct inflate_state, tmp_out_buffer); }
static inline size_t ffmount_inflate_window_size(void) { return sizeof(((struct inflate_state *)0)->tmp_out_buffer); }
static inline size_t ffmount_inflate_literal_offset(void) { return offsetof(struct inflate_state, lit_huff_code); }
static inline size_t ffmount_inflate_tables_end(void) { return offsetof(struct inflate_state, block_state); }

/// Whether no short code leads to an index beyond the long codes' tables: the highest index that any input can reach is
/// the short code's own plus one for each further bit.
static inline int ffmount_inflate_tables_are_sound(const struct inflate_state *state) {
  const struct inflate_huff_code_large *large = &state->lit_huff_code;
  for (size_t index = 0; index < (size_t)1 << ISAL_DECODE_LONG_BITS; index++) {
    // igzip_inflate.c: bit 25 marks a long code; its maximum length is in bits 26 to 31, its index in bits 0 to 24.
    const uint32_t code = large->short_code_lookup[index];
    const uint32_t length = code >> 26;
    if (!(code & 1u << 25)) continue;
    if (length < ISAL_DECODE_LONG_BITS || length > 21) return 0;
    if ((code & 0x1ffffff) + (1u << (length - ISAL_DECODE_LONG_BITS)) > ISAL_HUFF_CODE_LARGE_LONG_ALIGNED) return 0;
  }
  const struct inflate_huff_code_small *small = &state->dist_huff_code;
  for (size_t index = 0; index < (size_t)1 << ISAL_DECODE_SHORT_BITS; index++) {
    // Bit 10 marks a long code; its maximum length is in bits 11 to 15, its index in bits 0 to 8.
    const uint32_t code = small->short_code_lookup[index];
    const uint32_t length = code >> 11;
    if (!(code & 1u << 10)) continue;
    if (length < ISAL_DECODE_SHORT_BITS || length > 15) return 0;
    if ((code & 0x1ff) + (1u << (length - ISAL_DECODE_SHORT_BITS)) > ISAL_HUFF_CODE_SMALL_LONG_ALIGNED) return 0;
  }
  return 1;
}

/// What a compressor needs beside its state at the level that packs best, in bytes.
static inline size_t ffmount_deflate_buffer_size(void) { return ISAL_DEF_LVL3_DEFAULT; }
