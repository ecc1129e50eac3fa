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
  // The frames that the header claims, and those of them that the pixel data hold whole: at least 1.
  int32_t claimed_frames, frames;
  // Whether the frame has a window or a table of values (VOI LUT) that can be used; of several the first is taken.
  int32_t has_window, has_table;
  double window_center, window_width;
  // Whether the pixels are coded in a way that can be decoded.
  int32_t has_decoder;
  // Bits of a sample that count.
  int32_t bits;
  // Whether Burned In Annotation (0028,0301) says that the pixels hold text that identifies the patient.
  int32_t has_burned_in_annotation;
  // The storage class of the file, and the coding of its pixels.
  char kind[64], coding[96];
  // Image Type (0008,0008): its values with a backslash between them.
  char type[1024];
} dicom_image;

// Values of samples, rescaled.
typedef struct {
  double least, greatest;
} dicom_range;

// The values of gray pixels that are black and white: those of the file, the least and the greatest of the frame, all
// that the samples may have, or `low` and `high`.
enum { DICOM_WINDOW_OF_FILE = 0, DICOM_WINDOW_OF_VALUES, DICOM_WINDOW_OF_SAMPLES, DICOM_WINDOW_GIVEN };

typedef struct {
  int32_t kind;
  // Values after the modality's rescaling, or percent of the frame's pixels that lie below them.
  double low, high;
  int32_t low_is_share, high_is_share;
} dicom_window;

// Reads the header, and the window of a frame, counted from 0. Returns 0, DICOM_IS_UNREADABLE, or DICOM_HAS_NO_PICTURE, for
// which `kind` is set.
int32_t dicom_read(const char *path, int32_t frame, dicom_image *image);

// Finds the range of the values of all frames, which decodes every one of them.
int32_t dicom_find_range(const char *path, const dicom_image *image, dicom_range *range);

// Renders a frame, counted from 0, as 8-bit gray or RGB, rows without gaps. `image` is from `dicom_read` with that frame.
// `count` is the size of `pixels`.
int32_t dicom_render(const char *path, const dicom_image *image, int32_t frame, const dicom_window *window,
                     uint8_t *pixels, size_t count);

#ifdef __cplusplus
}
#endif

#endif
