#pragma once

#include <stddef.h>
#include <stdint.h>

// libjpeg leaves a function by longjmp on errors, which must not cross Swift frames: each function here is one complete
// operation that succeeds or fails.

/// The properties in a JPEG's header.
struct ffjpeg_head {
  uint32_t width;
  uint32_t height;
  /// As stored: 1, 3 or 4.
  int components;
  int is_progressive;
  /// The sum of the first component's quantisation table: larger means coarser.
  uint32_t coarseness;
};

/// Returns 0, or -1 if it is not a supported JPEG.
int ffjpeg_read_head(const uint8_t *data, size_t size, struct ffjpeg_head *head);

/// The coarseness that `ffjpeg_encode` uses for a quality.
uint32_t ffjpeg_coarseness(int quality);

/// Decodes the pixels at 1/`denominator` of the size (1, 2, 4 or 8), rounded up, one byte per component, as gray, RGB
/// or CMYK as stored (no inversion). Returns 0, or -1 if the file is damaged anywhere or the pixels do not fill
/// `capacity` bytes.
int ffjpeg_decode(const uint8_t *data, size_t size, int denominator, uint8_t *pixels, size_t capacity);

/// Encodes a progressive JPEG with optimal Huffman codes, and colours at half the resolution if `is_subsampled`. The
/// caller frees `*made`. Returns 0 or -1.
int ffjpeg_encode(const uint8_t *pixels, uint32_t width, uint32_t height, int components, int quality,
                  int is_subsampled, uint8_t **made, size_t *made_size);

/// Re-encodes the same image losslessly, progressive and with optimal Huffman codes, without comments and profiles.
/// Returns 0 or -1.
int ffjpeg_repack(const uint8_t *data, size_t size, uint8_t **made, size_t *made_size);
