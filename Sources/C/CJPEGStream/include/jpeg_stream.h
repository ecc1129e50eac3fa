// The streaming interface of libjpeg, for Swift.
//
// This is C because libjpeg reports errors by longjmp, which must not cross Swift frames. TurboJPEG returns codes, but
// reads and writes only whole images: a 300-megapixel source would take 900 MB of memory. Every function here returns 0
// on success; otherwise `error` has the reason.
#ifndef ZIGGURAT_JPEG_STREAM_H
#define ZIGGURAT_JPEG_STREAM_H

#include <stddef.h>
#include <stdint.h>

#define JS_ERROR_SIZE 256

typedef struct js_reader js_reader;
typedef struct js_tile_writer js_tile_writer;

typedef struct {
  int width, height, components;
  // Sampling factors of each component.
  int h[4], v[4];
  // Several scans: progressive, or one component after the other.
  int has_several_scans, is_arithmetic;
  // 1 gray, 2 YCbCr, 3 RGB, 4 CMYK or YCCK, 0 anything else.
  int colour;
  // The quantisation tables of the first three components, natural order.
  uint16_t quantisation[3][64];
} js_info;

// Damage in a file that libjpeg decoded nevertheless.
enum { JS_SOUND = 0, JS_WARNING = 1, JS_ERROR = 2 };
typedef struct {
  // The most severe message before the end of the data; a warning is not about the pixels.
  int severity;
  char text[JS_ERROR_SIZE];
  // The data end before the image does.
  int is_cut_off;
  // The first missing row; -1 if none is missing. With several scans, it is the row of the last one.
  int first_lost_row;
  // The data end before a scan that completes the image.
  int lacks_scans;
} js_damage;

// The form of decoded pixels: RGB or gray rows, Y Cb Cr planes, or DCT coefficients.
enum { JS_ROWS = 0, JS_PLANES = 1, JS_COEFFICIENTS = 2 };

// Opens a file and reads its header. After that, truncated data are damage, not an error.
js_reader *js_open(const char *path, js_info *info, char error[JS_ERROR_SIZE]);
// A reader of JPEGs in memory, one after the other; NULL if memory is short.
js_reader *js_new(void);
// Reads the header of the next JPEG, which must stay in memory until its last row is read. Its components have the
// colour space `colour`, numbered as in js_info, whatever its markers say.
int js_begin(
    js_reader *reader, const uint8_t *bytes, size_t size, int colour, js_info *info, char error[JS_ERROR_SIZE]);
int js_start(js_reader *reader, int mode, char error[JS_ERROR_SIZE]);
// Reads the next `count` rows, `stride` bytes apart.
int js_read_rows(js_reader *reader, uint8_t *base, size_t stride, int count, char error[JS_ERROR_SIZE]);
// Reads the next `count` rows of 4:2:0 or gray planes; each plane has space for whole MCU rows and columns.
int js_read_planes(
    js_reader *reader, uint8_t *const planes[3], const size_t strides[3], int count, char error[JS_ERROR_SIZE]);
// Reads the next `count` rows of MCUs into blocks of 64 coefficients; a row of MCUs has `stride` blocks.
int js_read_coefficients(
    js_reader *reader, int16_t *blocks, size_t stride, int count, char error[JS_ERROR_SIZE]);
// Reads the data after the last row, which must have been read.
void js_finish(js_reader *reader);
// Returns the damage so far; for a reader of JPEGs in memory, since the last js_begin.
js_damage js_noticed(const js_reader *reader);
// Computes the inverse DCT of `columns` × `rows` MCUs into planes. May be called by several threads at once.
void js_inverse_dct(
    const js_reader *reader, int16_t *blocks, size_t stride, int columns, int rows,
    uint8_t *const planes[3], const size_t strides[3]);
// The number of MCU rows or columns of a side of `pixels`, and of blocks in an MCU.
int js_blocks_per_mcu(const js_reader *reader);
int js_mcu_size(const js_reader *reader);
void js_close(js_reader *reader);

// Returns libjpeg's table for a quality, natural order; 0 luminance, 1 chrominance.
void js_quality_table(int quality, int chrominance, uint16_t table[64]);

// Writes tiles from coefficients with the source's own quantisation. One per thread.
js_tile_writer *js_tile_writer_new(const js_info *info);
// Encodes the MCUs that cover width × height pixels; `out` stays valid until the next call.
int js_tile_write(
    js_tile_writer *writer, const int16_t *blocks, size_t stride, int width, int height,
    const uint8_t **out, size_t *size, char error[JS_ERROR_SIZE]);
void js_tile_writer_free(js_tile_writer *writer);

#endif
