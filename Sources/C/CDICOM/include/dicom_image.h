// The pictures of a DICOM file, as a viewer shows them, by DCMTK.
//
// This is C++ because DCMTK has no other interface.
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
  // Bytes of a shown pixel: 1 or 3.
  int32_t bands;
  // The number of frames in the header, and the number of complete frames in the pixel data: at least 1.
  int32_t claimed_frames, frames;
  // Whether the frame has a usable window or table of values (VOI LUT); the first of several is used.
  int32_t has_window, has_table;
  double window_center, window_width;
  // Whether the encoding of the pixels can be decoded.
  int32_t has_decoder;
  // Significant bits of a sample.
  int32_t bits;
  // Whether Burned In Annotation (0028,0301) says that the pixels contain text that identifies the patient.
  int32_t has_burned_in_annotation;
  // The storage class of the file, and the encoding of its pixels.
  char kind[64], coding[96];
  // Image Type (0008,0008): its values with a backslash between them.
  char type[1024];
} dicom_image;

// Values of samples, rescaled.
typedef struct {
  double least, greatest;
} dicom_range;

// The values of gray pixels that become black and white. They are those of the file, the minimum and maximum of the
// frame, the range of the samples, or `low` and `high`.
enum { DICOM_WINDOW_OF_FILE = 0, DICOM_WINDOW_OF_VALUES, DICOM_WINDOW_OF_SAMPLES, DICOM_WINDOW_GIVEN };

typedef struct {
  int32_t kind;
  // Values after the modality's rescaling, or percentiles of the frame's pixels.
  double low, high;
  int32_t low_is_share, high_is_share;
} dicom_window;

// Reads the header, and the window of a frame, counted from 0. Returns 0, DICOM_IS_UNREADABLE, or DICOM_HAS_NO_PICTURE,
// which also sets `kind`.
int32_t dicom_read(const char *path, int32_t frame, dicom_image *image);

// Finds the range of the values of all frames, which decodes all of them.
int32_t dicom_find_range(const char *path, const dicom_image *image, dicom_range *range);

// Renders a frame, counted from 0, as 8-bit gray or RGB, in rows without gaps. `image` is the result of `dicom_read`
// with that frame, and `count` the size of `pixels`.
int32_t dicom_render(const char *path, const dicom_image *image, int32_t frame, const dicom_window *window,
                     uint8_t *pixels, size_t count);

#ifdef __cplusplus
}
#endif

#endif
