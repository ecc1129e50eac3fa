#include "jpeg_errors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Private to libjpeg, and installed beside the public header: decode_mcu reads one MCU's coefficients at a time, where
// the public jpeg_read_coefficients keeps those of the whole image.
#include <jpegint.h>

struct js_reader {
  struct jpeg_decompress_struct jpeg;
  js_errors errors;
  FILE *file;
  int is_created;
  int mode;
};

static void describe(struct jpeg_decompress_struct *jpeg, js_info *info) {
  memset(info, 0, sizeof *info);
  info->width = (int)jpeg->image_width;
  info->height = (int)jpeg->image_height;
  info->components = jpeg->num_components;
  info->has_several_scans = jpeg->progressive_mode || jpeg_has_multiple_scans(jpeg);
  info->is_arithmetic = jpeg->arith_code;
  for (int i = 0; i < jpeg->num_components && i < 4; i++) {
    info->h[i] = jpeg->comp_info[i].h_samp_factor;
    info->v[i] = jpeg->comp_info[i].v_samp_factor;
    JQUANT_TBL *table = jpeg->quant_tbl_ptrs[jpeg->comp_info[i].quant_tbl_no & 3];
    if (i < 3 && table) memcpy(info->quantisation[i], table->quantval, sizeof info->quantisation[i]);
  }
  switch (jpeg->jpeg_color_space) {
  case JCS_GRAYSCALE: info->colour = 1; break;
  case JCS_YCbCr: info->colour = 2; break;
  case JCS_RGB: info->colour = 3; break;
  case JCS_CMYK:
  case JCS_YCCK: info->colour = 4; break;
  default: info->colour = 0;
  }
}

js_reader *js_open(const char *path, js_info *info, char error[JS_ERROR_SIZE]) {
  js_reader *reader = calloc(1, sizeof *reader);
  if (!reader) {
    snprintf(error, JS_ERROR_SIZE, "no memory");
    return NULL;
  }
  reader->file = fopen(path, "rbe");
  if (!reader->file) {
    snprintf(error, JS_ERROR_SIZE, "%s", strerror(errno));
    free(reader);
    return NULL;
  }
  struct jpeg_decompress_struct *jpeg = &reader->jpeg;
  jpeg->err = js_set_errors(&reader->errors);
  reader->errors.text = error;
  if (setjmp(reader->errors.jump)) {
    js_close(reader);
    return NULL;
  }
  jpeg_create_decompress(jpeg);
  reader->is_created = 1;
  jpeg_stdio_src(jpeg, reader->file);
  jpeg_read_header(jpeg, TRUE);
  reader->errors.is_strict = 0;
  describe(jpeg, info);
  return reader;
}

js_reader *js_new(void) {
  js_reader *reader = calloc(1, sizeof *reader);
  if (!reader) return NULL;
  reader->jpeg.err = js_set_errors(&reader->errors);
  if (setjmp(reader->errors.jump)) {
    js_close(reader);
    return NULL;
  }
  jpeg_create_decompress(&reader->jpeg);
  reader->is_created = 1;
  return reader;
}

int js_begin(
    js_reader *reader, const uint8_t *bytes, size_t size, int colour, js_info *info, char error[JS_ERROR_SIZE]) {
  reader->errors.text = error;
  if (setjmp(reader->errors.jump)) return -1;
  struct jpeg_decompress_struct *jpeg = &reader->jpeg;
  reader->errors.damage = (js_damage){.first_lost_row = -1};
  reader->errors.is_in_scan = 0;
  // From the previous image, which may have ended at any row.
  jpeg_abort_decompress(jpeg);
  jpeg_mem_src(jpeg, bytes, (unsigned long)size);
  jpeg_read_header(jpeg, TRUE);
  static const J_COLOR_SPACE colours[] = {JCS_UNKNOWN, JCS_GRAYSCALE, JCS_YCbCr, JCS_RGB};
  if (colour >= 1 && colour <= 3) jpeg->jpeg_color_space = colours[colour];
  describe(jpeg, info);
  return 0;
}

int js_start(js_reader *reader, int mode, char error[JS_ERROR_SIZE]) {
  reader->errors.text = error;
  if (setjmp(reader->errors.jump)) return -1;
  struct jpeg_decompress_struct *jpeg = &reader->jpeg;
  reader->mode = mode;
  reader->errors.is_in_scan = 1;
  if (mode == JS_ROWS) {
    jpeg->out_color_space = jpeg->num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  } else {
    jpeg->raw_data_out = TRUE;
    jpeg->do_fancy_upsampling = FALSE;
  }
  jpeg_start_decompress(jpeg);
  return 0;
}

int js_read_rows(js_reader *reader, uint8_t *base, size_t stride, int count, char error[JS_ERROR_SIZE]) {
  reader->errors.text = error;
  if (setjmp(reader->errors.jump)) return -1;
  for (int y = 0; y < count;) {
    JSAMPROW rows[16];
    int n = count - y < 16 ? count - y : 16;
    for (int i = 0; i < n; i++) rows[i] = base + (size_t)(y + i) * stride;
    y += (int)jpeg_read_scanlines(&reader->jpeg, rows, (JDIMENSION)n);
  }
  return 0;
}

int js_read_planes(
    js_reader *reader, uint8_t *const planes[3], const size_t strides[3], int count,
    char error[JS_ERROR_SIZE]) {
  reader->errors.text = error;
  if (setjmp(reader->errors.jump)) return -1;
  struct jpeg_decompress_struct *jpeg = &reader->jpeg;
  JSAMPROW rows[3][16];
  JSAMPARRAY image[3] = {rows[0], rows[1], rows[2]};
  int step = jpeg->max_v_samp_factor * DCTSIZE;
  for (int y = 0; y < count; y += step) {
    for (int c = 0; c < jpeg->num_components; c++) {
      int n = jpeg->comp_info[c].v_samp_factor * DCTSIZE;
      int top = y / step * n;
      for (int i = 0; i < n; i++) rows[c][i] = planes[c] + (size_t)(top + i) * strides[c];
    }
    jpeg_read_raw_data(jpeg, image, (JDIMENSION)step);
  }
  return 0;
}

int js_blocks_per_mcu(const js_reader *reader) { return reader->jpeg.blocks_in_MCU; }

int js_mcu_size(const js_reader *reader) { return reader->jpeg.max_h_samp_factor * DCTSIZE; }

int js_read_coefficients(
    js_reader *reader, int16_t *blocks, size_t stride, int count, char error[JS_ERROR_SIZE]) {
  reader->errors.text = error;
  if (setjmp(reader->errors.jump)) return -1;
  struct jpeg_decompress_struct *jpeg = &reader->jpeg;
  int n = jpeg->blocks_in_MCU;
  for (int y = 0; y < count; y++, jpeg->input_iMCU_row++) {
    JBLOCK *row = (JBLOCK *)(blocks + (size_t)y * stride * DCTSIZE2);
    memset(row, 0, (size_t)jpeg->MCUs_per_row * n * sizeof(JBLOCK));
    for (JDIMENSION x = 0; x < jpeg->MCUs_per_row; x++, row += n) {
      JBLOCKROW mcu[D_MAX_BLOCKS_IN_MCU];
      for (int i = 0; i < n; i++) mcu[i] = row + i;
      // The Huffman decoder never suspends: the stdio source always has bytes or ends in an error.
      if (!(*jpeg->entropy->decode_mcu)(jpeg, mcu)) {
        snprintf(error, JS_ERROR_SIZE, "the file ends early");
        return -1;
      }
    }
  }
  return 0;
}

// Whether the bytes before the next marker are all equal; only the first ones are checked.
static int is_padding(const struct jpeg_source_mgr *source) {
  const JOCTET *bytes = source->next_input_byte;
  for (size_t i = 0; i < source->bytes_in_buffer && bytes[i] != 0xff; i++)
    if (bytes[i] != bytes[0]) return 0;
  return 1;
}

// Whether a coefficient of a component has no scan, or no scan up to its last bit.
static int lacks_scans(const struct jpeg_decompress_struct *jpeg) {
  for (int c = 0; c < jpeg->num_components; c++) {
    // Set by the first scan of the component.
    if (!jpeg->comp_info[c].quant_table) return 1;
    // For progressive files only: -1 without a scan, otherwise the number of bits without a scan.
    for (int i = 0; jpeg->coef_bits && i < DCTSIZE2; i++)
      if (jpeg->coef_bits[c][i] != 0) return 1;
  }
  return 0;
}

void js_finish(js_reader *reader) {
  struct jpeg_decompress_struct *jpeg = &reader->jpeg;
  reader->errors.text = NULL;
  reader->errors.is_padded = is_padding(jpeg->src);
  if (!setjmp(reader->errors.jump)) {
    // Ends the scan; no other code notifies libjpeg.
    if (reader->mode == JS_COEFFICIENTS) (*jpeg->inputctl->finish_input_pass)(jpeg);
    while (!jpeg->inputctl->eoi_reached && !reader->errors.damage.is_cut_off)
      if ((*jpeg->inputctl->consume_input)(jpeg) == JPEG_SUSPENDED) break;
    if (reader->errors.damage.is_cut_off) reader->errors.damage.lacks_scans = lacks_scans(jpeg);
  } else if (reader->errors.damage.severity < JS_WARNING) {
    // Invalid markers after a complete picture.
    reader->errors.damage.severity = JS_WARNING;
    reader->errors.base.format_message((j_common_ptr)jpeg, reader->errors.damage.text);
  }
}

js_damage js_noticed(const js_reader *reader) { return reader->errors.damage; }

void js_inverse_dct(
    const js_reader *reader, int16_t *blocks, size_t stride, int columns, int rows,
    uint8_t *const planes[3], const size_t strides[3]) {
  j_decompress_ptr jpeg = (j_decompress_ptr)&reader->jpeg;
  int n = jpeg->blocks_in_MCU;
  for (int y = 0; y < rows; y++) {
    for (int x = 0; x < columns; x++) {
      JBLOCK *block = (JBLOCK *)(blocks + ((size_t)y * stride + (size_t)x * n) * DCTSIZE2);
      for (int c = 0; c < jpeg->num_components; c++) {
        jpeg_component_info *info = &jpeg->comp_info[c];
        int h = info->MCU_width, v = info->MCU_height;
        for (int by = 0; by < v; by++) {
          JSAMPROW out[DCTSIZE];
          for (int i = 0; i < DCTSIZE; i++)
            out[i] = planes[c] + (size_t)((y * v + by) * DCTSIZE + i) * strides[c];
          for (int bx = 0; bx < h; bx++, block++)
            (*jpeg->idct->inverse_DCT[c])(
                jpeg, info, (JCOEFPTR)block, out, (JDIMENSION)((x * h + bx) * DCTSIZE));
        }
      }
    }
  }
}

void js_close(js_reader *reader) {
  if (!reader) return;
  if (reader->is_created) jpeg_destroy_decompress(&reader->jpeg);
  if (reader->file) fclose(reader->file);
  free(reader);
}
