// The streaming side of libjpeg, for Swift.
//
// C of our own because libjpeg reports errors by longjmp, which must not cross Swift frames, and
// TurboJPEG, which returns codes, reads and writes whole images only: a 300-megapixel source would
// stand in memory as 900 MB. Every function here returns 0 on success; else `error` has the reason.
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
  // Several scans: progressive, or components one after the other.
  int has_several_scans, is_arithmetic;
  // 1 gray, 2 YCbCr, 3 RGB, 4 CMYK or YCCK, 0 anything else.
  int colour;
  // The quantisation tables of the first three components, natural order.
  uint16_t quantisation[3][64];
} js_info;

// What libjpeg noticed of a file and made a picture of nevertheless.
enum { JS_SOUND = 0, JS_WARNING = 1, JS_ERROR = 2 };
typedef struct {
  // The worst that was noticed before the end of the data; a warning is not about the pixels.
  int severity;
  char text[JS_ERROR_SIZE];
  // The data end before the image does.
  int is_cut_off;
  // Of those that are missing then; -1 where all are there. Of several scans it is the row of the last one.
  int first_lost_row;
  // The data end before a scan that completes the image.
  int lacks_scans;
} js_damage;

// How the pixels are to come: RGB or gray rows, Y Cb Cr planes, or DCT coefficients.
enum { JS_ROWS = 0, JS_PLANES = 1, JS_COEFFICIENTS = 2 };

// Opens a file and reads its header. From there on data that end early are damage, and no error.
js_reader *js_open(const char *path, js_info *info, char error[JS_ERROR_SIZE]);
// A reader of JPEGs in memory, one after the other; NULL where there is no memory for it.
js_reader *js_new(void);
// Reads the header of the next one, which has to stay where it is until its last row is read. Its components are of
// `colour`, numbered as in js_info, whatever its markers say.
int js_begin(
    js_reader *reader, const uint8_t *bytes, size_t size, int colour, js_info *info, char error[JS_ERROR_SIZE]);
int js_start(js_reader *reader, int mode, char error[JS_ERROR_SIZE]);
// The next `count` rows, `stride` bytes apart.
int js_read_rows(js_reader *reader, uint8_t *base, size_t stride, int count, char error[JS_ERROR_SIZE]);
// The next `count` rows of 4:2:0 or gray planes; each plane has room for whole MCU rows and columns.
int js_read_planes(
    js_reader *reader, uint8_t *const planes[3], const size_t strides[3], int count, char error[JS_ERROR_SIZE]);
// The next `count` rows of MCUs into blocks of 64 coefficients; a row of MCUs is `stride` blocks.
int js_read_coefficients(
    js_reader *reader, int16_t *blocks, size_t stride, int count, char error[JS_ERROR_SIZE]);
// Reads what follows the last row, which has been read.
void js_finish(js_reader *reader);
// What was noticed so far; of a reader of JPEGs in memory since the last js_begin.
js_damage js_noticed(const js_reader *reader);
// Inverse DCT of `columns` × `rows` MCUs into planes. Callable from several threads at a time.
void js_inverse_dct(
    const js_reader *reader, int16_t *blocks, size_t stride, int columns, int rows,
    uint8_t *const planes[3], const size_t strides[3]);
// How many MCU rows or columns wide a side of `pixels` is, and blocks in an MCU.
int js_blocks_per_mcu(const js_reader *reader);
int js_mcu_size(const js_reader *reader);
void js_close(js_reader *reader);

// The table libjpeg makes of a quality, natural order; 0 luminance, 1 chrominance.
void js_quality_table(int quality, int chrominance, uint16_t table[64]);

// Writes tiles from coefficients with the source's own quantisation. One per thread.
js_tile_writer *js_tile_writer_new(const js_info *info);
// Encodes the MCUs that cover width × height pixels; `out` stays valid until the next call.
int js_tile_write(
    js_tile_writer *writer, const int16_t *blocks, size_t stride, int width, int height,
    const uint8_t **out, size_t *size, char error[JS_ERROR_SIZE]);
void js_tile_writer_free(js_tile_writer *writer);

#endif
