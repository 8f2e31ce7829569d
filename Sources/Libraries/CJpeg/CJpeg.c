#include "CJpeg.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jpeglib.h>

struct errors {
  struct jpeg_error_mgr manager;
  jmp_buf place;
};

static void leave(j_common_ptr info) { longjmp(((struct errors *)info->err)->place, 1); }

// A warning means missing or corrupt data, which other decoders would decode differently: treated as an error.
static void take_warning(j_common_ptr info, int level) {
  if (level < 0) leave(info);
}

static void say_nothing(j_common_ptr info) { (void)info; }

// Structures are zeroed, so that they can be destroyed if an error comes before their creation. What `jpeg_mem_dest`
// has allocated by then is leaked: it fails only for lack of memory, and `*made` may be stale.
static struct jpeg_error_mgr *prepare(struct errors *errors) {
  jpeg_std_error(&errors->manager);
  errors->manager.error_exit = leave;
  errors->manager.emit_message = take_warning;
  errors->manager.output_message = say_nothing;
  return &errors->manager;
}

static int open_head(struct jpeg_decompress_struct *info, const uint8_t *data, size_t size) {
  jpeg_mem_src(info, data, size);
  return jpeg_read_header(info, TRUE) == JPEG_HEADER_OK &&
         (info->num_components == 1 || info->num_components == 3 || info->num_components == 4) &&
         info->data_precision == 8;
}

int ffjpeg_read_head(const uint8_t *data, size_t size, struct ffjpeg_head *head) {
  struct jpeg_decompress_struct info = {0};
  struct errors errors;
  info.err = prepare(&errors);
  if (setjmp(errors.place)) {
    jpeg_destroy_decompress(&info);
    return -1;
  }
  jpeg_create_decompress(&info);
  int status = open_head(&info, data, size) ? 0 : -1;
  if (status == 0) {
    head->width = info.image_width;
    head->height = info.image_height;
    head->components = info.num_components;
    head->is_progressive = info.progressive_mode;
    head->coarseness = 0;
    const JQUANT_TBL *table = info.quant_tbl_ptrs[info.comp_info[0].quant_tbl_no & 3];
    for (int place = 0; table && place < DCTSIZE2; place++) head->coarseness += table->quantval[place];
  }
  jpeg_destroy_decompress(&info);
  return status;
}

int ffjpeg_decode(const uint8_t *data, size_t size, int denominator, uint8_t *pixels, size_t capacity) {
  struct jpeg_decompress_struct info = {0};
  struct errors errors;
  info.err = prepare(&errors);
  if (setjmp(errors.place)) {
    jpeg_destroy_decompress(&info);
    return -1;
  }
  jpeg_create_decompress(&info);
  int status = -1;
  if (open_head(&info, data, size)) {
    info.scale_num = 1;
    info.scale_denom = denominator;
    info.out_color_space = info.num_components == 1 ? JCS_GRAYSCALE : info.num_components == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_start_decompress(&info);
    size_t stride = (size_t)info.output_width * info.output_components;
    if (info.output_components == info.num_components && stride * info.output_height == capacity) {
      while (info.output_scanline < info.output_height) {
        JSAMPROW row = pixels + stride * info.output_scanline;
        jpeg_read_scanlines(&info, &row, 1);
      }
      jpeg_finish_decompress(&info);
      status = 0;
    }
  }
  jpeg_destroy_decompress(&info);
  return status;
}

static void set_quality(struct jpeg_compress_struct *info, int quality) { jpeg_set_quality(info, quality, TRUE); }

uint32_t ffjpeg_coarseness(int quality) {
  struct jpeg_compress_struct info = {0};
  struct errors errors;
  info.err = prepare(&errors);
  uint32_t sum = 0;
  if (setjmp(errors.place) == 0) {
    jpeg_create_compress(&info);
    info.input_components = 1;
    info.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&info);
    set_quality(&info, quality);
    for (int place = 0; place < DCTSIZE2; place++) sum += info.quant_tbl_ptrs[0]->quantval[place];
  }
  jpeg_destroy_compress(&info);
  return sum;
}

int ffjpeg_encode(const uint8_t *pixels, uint32_t width, uint32_t height, int components, int quality,
                  int is_subsampled, uint8_t **made, size_t *made_size) {
  struct jpeg_compress_struct info = {0};
  struct errors errors;
  unsigned long count = 0;
  *made = NULL;
  info.err = prepare(&errors);
  if (setjmp(errors.place)) {
    jpeg_destroy_compress(&info);
    return -1;
  }
  jpeg_create_compress(&info);
  jpeg_mem_dest(&info, made, &count);
  info.image_width = width;
  info.image_height = height;
  info.input_components = components;
  info.in_color_space = components == 1 ? JCS_GRAYSCALE : components == 3 ? JCS_RGB : JCS_CMYK;
  jpeg_set_defaults(&info);
  if (components == 4) jpeg_set_colorspace(&info, JCS_YCCK);
  set_quality(&info, quality);
  if (!is_subsampled) {
    for (int index = 0; index < info.num_components; index++) {
      info.comp_info[index].h_samp_factor = 1;
      info.comp_info[index].v_samp_factor = 1;
    }
  }
  info.optimize_coding = TRUE;
  jpeg_simple_progression(&info);
  jpeg_start_compress(&info, TRUE);
  size_t stride = (size_t)width * components;
  while (info.next_scanline < height) {
    JSAMPROW row = (JSAMPROW)pixels + stride * info.next_scanline;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  *made_size = count;
  return 0;
}

int ffjpeg_repack(const uint8_t *data, size_t size, uint8_t **made, size_t *made_size) {
  struct jpeg_decompress_struct source = {0};
  struct jpeg_compress_struct info = {0};
  struct errors errors;
  unsigned long count = 0;
  *made = NULL;
  source.err = prepare(&errors);
  info.err = source.err;
  if (setjmp(errors.place)) {
    jpeg_destroy_compress(&info);
    jpeg_destroy_decompress(&source);
    return -1;
  }
  jpeg_create_decompress(&source);
  jpeg_create_compress(&info);
  int status = -1;
  if (open_head(&source, data, size)) {
    jvirt_barray_ptr *coefficients = jpeg_read_coefficients(&source);
    jpeg_mem_dest(&info, made, &count);
    jpeg_copy_critical_parameters(&source, &info);
    info.optimize_coding = TRUE;
    jpeg_simple_progression(&info);
    jpeg_write_coefficients(&info, coefficients);
    jpeg_finish_compress(&info);
    jpeg_finish_decompress(&source);
    *made_size = count;
    status = 0;
  }
  jpeg_destroy_compress(&info);
  jpeg_destroy_decompress(&source);
  return status;
}
