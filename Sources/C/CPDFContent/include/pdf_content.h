// The drawing operations of a PDF page, recorded by poppler's interpreter without drawing them.
//
// C++ of our own because poppler reports them only to a subclass of its OutputDev. Its GLib
// interface has neither masks, paths nor the render mode of text.
#ifndef ZIGGURAT_PDF_CONTENT_H
#define ZIGGURAT_PDF_CONTENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// Images of a page that are recorded. Further ones count as vector content.
enum { PDF_MOST_IMAGES = 4096 };

typedef struct {
  // The unit square of image space in page space (ISO 32000-1, section 8.9.5): a, b, c, d, e, f.
  double matrix[6];
  // The part that clipping leaves, in page space.
  double left, top, right, bottom;
  // Pixels, of the image or its mask, whichever has more.
  int32_t columns, rows;
} pdf_image;

typedef struct {
  // The crop box as it is shown, in units of user space; y points down from its upper left corner.
  double width, height;
  // Points per unit of user space (ISO 32000-1, table 30): 1 unless the page has a UserUnit.
  double user_unit;
  // Visible text, paths, patterns or shadings that no later image hides.
  int32_t has_vectors;
  // Whether a clipping path other than a rectangle cuts an image.
  int32_t is_cut;
  int32_t image_count;
} pdf_content;

enum { PDF_IS_READABLE = 0, PDF_IS_ENCRYPTED, PDF_HAS_NO_PAGES, PDF_LACKS_PAGE, PDF_IS_DAMAGED };

// Whether the page, numbered from 1, can be read; one of the values above.
int32_t pdf_check(const char *path, int32_t page);

// Reads a page, numbered from 1, into `content` and `images`, which has room for PDF_MOST_IMAGES.
// Returns what pdf_check returns.
int32_t pdf_read_content(const char *path, int32_t page, pdf_content *content, pdf_image *images);

// Whether the document's pages follow each other from right to left (ISO 32000-1, table 150: Direction).
int32_t pdf_is_right_to_left(const char *path);

#ifdef __cplusplus
}
#endif

#endif
