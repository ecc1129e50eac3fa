// A camera's RAW file, developed or as its embedded preview, by LibRaw.
//
// C of our own because LibRaw's one struct has arrays of 65,536 elements, which Swift does not import, and because a
// handle of LibRaw that has computed sizes cannot decode any more: each function opens the file by itself.
#ifndef ZIGGURAT_RAW_PHOTO_H
#define ZIGGURAT_RAW_PHOTO_H

#include <stddef.h>
#include <stdint.h>

#define RAW_IS_UNREADABLE -1
#define RAW_IS_DAMAGED -2
#define RAW_LACKS_MEMORY -3

typedef struct {
  // Maker and model, as LibRaw spells them.
  char maker[64], model[64];
  // Pixels, developed and upright, and bytes of each: 1 for a sensor without colour filters, 3 for others.
  int32_t width, height, bands;
  // Whether LibRaw has a decoder of the samples, and knows what colours the sensor sees.
  int32_t is_known;
  // A DNG describes its sensor itself; without its matrix the sensor's own colours are taken for sRGB.
  int32_t is_dng, has_matrix;
  // Whether the file has the white balance that the camera chose.
  int32_t has_white_balance;
  int32_t frames;
  // EXIF orientation of the preview, 1 to 8.
  int32_t orientation;
  // Bytes that developing takes, about.
  int64_t memory;
} raw_photo;

// Reads the header. 0, or RAW_IS_UNREADABLE if the file is none that LibRaw reads.
int32_t raw_photo_read(const char *path, raw_photo *photo);

// Develops the file with the camera's white balance, upright, to sRGB or gray, rows without gaps.
// The caller frees `pixels`. 0, or a value above.
int32_t raw_photo_develop(const char *path, uint8_t **pixels, int32_t *width, int32_t *height, int32_t *bands);

// The JPEG that LibRaw takes for the preview; the caller frees `bytes`. 0, or a value above.
int32_t raw_photo_preview(const char *path, uint8_t **bytes, size_t *count);

// LibRaw's version: `0.20.2`.
const char *raw_photo_version(void);

#endif
