// A camera's RAW file, developed or as its embedded preview, by LibRaw.
//
// This is C because LibRaw's struct has arrays of 65,536 elements, which Swift does not import. A LibRaw handle that
// has computed sizes cannot decode any more, so each function opens the file itself.
#ifndef ZIGGURAT_RAW_PHOTO_H
#define ZIGGURAT_RAW_PHOTO_H

#include <stddef.h>
#include <stdint.h>

#define RAW_IS_UNREADABLE -1
#define RAW_IS_DAMAGED -2
#define RAW_LACKS_MEMORY -3

typedef struct {
  // Maker and model, in LibRaw's spelling.
  char maker[64], model[64];
  // Pixels of the developed, upright picture, and bytes per pixel: 1 for a sensor without colour filters, otherwise 3.
  int32_t width, height, bands;
  // Whether LibRaw can decode the samples and has colour data of the sensor.
  int32_t is_known;
  // A DNG contains the matrix of its sensor; without it, the sensor's colours are assumed to be sRGB.
  int32_t is_dng, has_matrix;
  // Whether the file has the camera's white balance.
  int32_t has_white_balance;
  int32_t frames;
  // EXIF orientation of the preview, 1 to 8.
  int32_t orientation;
  // The approximate memory for developing, in bytes.
  int64_t memory;
} raw_photo;

// Reads the header. Returns 0, or RAW_IS_UNREADABLE if LibRaw does not support the file.
int32_t raw_photo_read(const char *path, raw_photo *photo);

// Develops the file with the camera's white balance, upright, to sRGB or gray, rows without gaps. The caller frees
// `pixels`. Returns 0, or a value above.
int32_t raw_photo_develop(const char *path, uint8_t **pixels, int32_t *width, int32_t *height, int32_t *bands);

// Returns LibRaw's preview as a JPEG; the caller frees `bytes`. Returns 0, or a value above.
int32_t raw_photo_preview(const char *path, uint8_t **bytes, size_t *count);

// LibRaw's version: `0.20.2`.
const char *raw_photo_version(void);

#endif
