#include "jpeg_errors.h"

#include <stdlib.h>
#include <string.h>

// Private to libjpeg, as in jpeg_reader.c: encode_mcu writes one MCU's coefficients.
#include <jpegint.h>

void js_quality_table(int quality, int chrominance, uint16_t table[64]) {
  struct jpeg_compress_struct jpeg;
  js_errors errors;
  jpeg.err = js_set_errors(&errors);
  if (setjmp(errors.jump)) return;
  jpeg_create_compress(&jpeg);
  jpeg.input_components = 3;
  jpeg.in_color_space = JCS_YCbCr;
  jpeg_set_defaults(&jpeg);
  jpeg_set_quality(&jpeg, quality, TRUE);
  memcpy(table, jpeg.quant_tbl_ptrs[chrominance ? 1 : 0]->quantval, 64 * sizeof(uint16_t));
  jpeg_destroy_compress(&jpeg);
}

struct js_tile_writer {
  struct jpeg_compress_struct jpeg;
  js_errors errors;
  unsigned char *buffer;
  unsigned long capacity;
};

static void add_table(struct jpeg_compress_struct *jpeg, int number, const uint16_t values[64]) {
  unsigned int table[64];
  for (int i = 0; i < 64; i++) table[i] = values[i];
  // Scale 100 is the table itself; values above 255 stay out of baseline and were refused before.
  jpeg_add_quant_table(jpeg, number, table, 100, FALSE);
}

js_tile_writer *js_tile_writer_new(const js_info *info) {
  js_tile_writer *writer = calloc(1, sizeof *writer);
  if (!writer) return NULL;
  struct jpeg_compress_struct *jpeg = &writer->jpeg;
  jpeg->err = js_set_errors(&writer->errors);
  if (setjmp(writer->errors.jump)) {
    js_tile_writer_free(writer);
    return NULL;
  }
  // More than any tile of usual size needs, so that the library hardly ever moves it.
  writer->capacity = 1 << 20;
  writer->buffer = malloc(writer->capacity);
  if (!writer->buffer) {
    free(writer);
    return NULL;
  }
  jpeg_create_compress(jpeg);
  jpeg->input_components = info->components;
  int is_rgb = info->components == 3 && info->colour == 3;
  jpeg->in_color_space = info->components == 1 ? JCS_GRAYSCALE : is_rgb ? JCS_RGB : JCS_YCbCr;
  jpeg_set_defaults(jpeg);
  // With Adobe's marker, without which three components are taken for Y, Cb and Cr.
  if (is_rgb) jpeg_set_colorspace(jpeg, JCS_RGB);
  for (int c = 0; c < info->components; c++) {
    jpeg->comp_info[c].h_samp_factor = info->h[c];
    jpeg->comp_info[c].v_samp_factor = info->v[c];
  }
  // Usually one table for brightness and one for both of chroma; scanners may have three.
  int count = info->components == 1 || is_rgb ? 1 : 2;
  for (int t = 0; t < count; t++) add_table(jpeg, t, info->quantisation[t]);
  for (int c = count; c < info->components; c++) {
    int t = count - 1;
    if (memcmp(info->quantisation[c], info->quantisation[t], sizeof info->quantisation[c])) {
      t = c;
      add_table(jpeg, t, info->quantisation[c]);
    }
    jpeg->comp_info[c].quant_tbl_no = t;
  }
  return writer;
}

int js_tile_write(
    js_tile_writer *writer, const int16_t *blocks, size_t stride, int width, int height,
    const uint8_t **out, size_t *size, char error[JS_ERROR_SIZE]) {
  struct jpeg_compress_struct *jpeg = &writer->jpeg;
  writer->errors.text = error;
  if (setjmp(writer->errors.jump)) {
    jpeg_abort_compress(jpeg);
    return -1;
  }
  unsigned long length = writer->capacity;
  unsigned char *before = writer->buffer;
  jpeg_mem_dest(jpeg, &writer->buffer, &length);
  jpeg->image_width = (JDIMENSION)width;
  jpeg->image_height = (JDIMENSION)height;
  jpeg_start_compress(jpeg, TRUE);
  // Writes the frame and scan headers and readies the entropy coder, as the first scanline would.
  (*jpeg->master->pass_startup)(jpeg);
  int n = jpeg->blocks_in_MCU;
  JDIMENSION columns = jpeg->MCUs_per_row, rows = jpeg->MCU_rows_in_scan;
  for (JDIMENSION y = 0; y < rows; y++) {
    JBLOCK *block = (JBLOCK *)(blocks + (size_t)y * stride * DCTSIZE2);
    for (JDIMENSION x = 0; x < columns; x++, block += n) {
      JBLOCKROW mcu[C_MAX_BLOCKS_IN_MCU];
      for (int i = 0; i < n; i++) mcu[i] = block + i;
      (*jpeg->entropy->encode_mcu)(jpeg, mcu);
    }
  }
  (*jpeg->entropy->finish_pass)(jpeg);
  (*jpeg->marker->write_file_trailer)(jpeg);
  (*jpeg->dest->term_destination)(jpeg);
  jpeg_abort_compress(jpeg);
  // A tile that did not fit is in a larger buffer, which is ours from now on; libjpeg leaves the old one to us.
  if (writer->buffer != before) {
    free(before);
    writer->capacity = length;
  }
  *out = writer->buffer;
  *size = length;
  return 0;
}

void js_tile_writer_free(js_tile_writer *writer) {
  if (!writer) return;
  jpeg_destroy_compress(&writer->jpeg);
  free(writer->buffer);
  free(writer);
}
