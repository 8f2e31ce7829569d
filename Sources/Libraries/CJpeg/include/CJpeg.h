#pragma once

#include <stddef.h>
#include <stdint.h>

// libjpeg leaves a function by longjmp when a file is broken, which Swift cannot be under: each function here is one
// piece of work with the library, done or not.

/// What a JPEG's head says.
struct ffjpeg_head {
  uint32_t width;
  uint32_t height;
  /// As they are stored: 1, 3 or 4.
  int components;
  int is_progressive;
  /// The sum of the first component's quantisation table: the larger, the coarser.
  uint32_t coarseness;
};

/// 0, or -1 when it is no JPEG that can be read.
int ffjpeg_read_head(const uint8_t *data, size_t size, struct ffjpeg_head *head);

/// The coarseness that `ffjpeg_encode` gives to an image of a quality.
uint32_t ffjpeg_coarseness(int quality);

/// The pixels at 1/`denominator` of the size (1, 2, 4 or 8), rounded up, one byte a component, gray, RGB or CMYK as it is
/// stored (no inversion). 0, or -1 when the file is broken anywhere or the pixels do not fill `capacity` bytes.
int ffjpeg_decode(const uint8_t *data, size_t size, int denominator, uint8_t *pixels, size_t capacity);

/// A progressive JPEG with the best Huffman codes; colours at half the resolution where `is_subsampled`. `*made` is for the
/// caller to free. 0 or -1.
int ffjpeg_encode(const uint8_t *pixels, uint32_t width, uint32_t height, int components, int quality,
                  int is_subsampled, uint8_t **made, size_t *made_size);

/// The same image to the last bit, progressive and with the best Huffman codes, without comments and profiles. 0 or -1.
int ffjpeg_repack(const uint8_t *data, size_t size, uint8_t **made, size_t *made_size);
