// The pictures of a DICOM file, as a viewer shows them, by DCMTK.
//
// C++ of our own because DCMTK has no other interface.
#ifndef ZIGGURAT_DICOM_IMAGE_H
#define ZIGGURAT_DICOM_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DICOM_IS_UNREADABLE -1
#define DICOM_HAS_NO_PICTURE -2
#define DICOM_IS_DAMAGED -3

typedef struct {
  int32_t width, height;
  // Bytes of a pixel as it is shown: 1 or 3.
  int32_t bands;
  int32_t frames;
  // Whether the file has a window or a table of values (VOI LUT); of several the first is taken.
  int32_t has_window, has_table;
  double window_center, window_width;
  // Whether the pixels are coded in a way that can be decoded.
  int32_t has_decoder;
  // Bits of a sample that count.
  int32_t bits;
  // What the file is, by its storage class, and how its pixels are coded.
  char kind[64], coding[96];
} dicom_image;

// Reads the header. 0, DICOM_IS_UNREADABLE, or DICOM_HAS_NO_PICTURE, of which `kind` is set.
int32_t dicom_read(const char *path, dicom_image *image);

// Renders a frame, counted from 0, as 8-bit gray or RGB, rows without gaps. `count` is what `pixels` has room for.
int32_t dicom_render(const char *path, int32_t frame, uint8_t *pixels, size_t count);

#ifdef __cplusplus
}
#endif

#endif
