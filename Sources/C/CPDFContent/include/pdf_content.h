// The drawing operations of a PDF page, recorded by poppler's interpreter without drawing them.
//
// This is C++ because poppler reports the operations only to a subclass of its OutputDev. Its GLib interface has no
// masks, paths or text render modes.
#ifndef ZIGGURAT_PDF_CONTENT_H
#define ZIGGURAT_PDF_CONTENT_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// The maximum number of recorded images of a page. Further ones count as vector content.
enum { PDF_MOST_IMAGES = 4096 };

typedef struct {
  // The transformation from the unit square of image space to page space (ISO 32000-1, section 8.9.5): a, b, c, d, e,
  // f.
  double matrix[6];
  // The part that remains after clipping, in page space.
  double left, top, right, bottom;
  // The pixels of the image or its mask, whichever has more.
  int32_t columns, rows;
} pdf_image;

typedef struct {
  // The crop box as shown, in units of user space; y points down from its upper left corner.
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

// A document that stays open. One thread at a time may use it.
typedef struct pdf_file pdf_file;

// Opens the document at `path`. `password` is UTF-8, or NULL. Never returns NULL: pdf_check has the result.
pdf_file *pdf_open(const char *path, const char *password);
void pdf_close(pdf_file *file);

// Whether the password opens the document as UTF-8, and not as ISO 8859-1.
int32_t pdf_has_utf8_password(pdf_file *file);

// The number of pages; 0 if the document cannot be read.
int32_t pdf_page_count(pdf_file *file);

// Whether the page, numbered from 1, can be read; one of the values above.
int32_t pdf_check(pdf_file *file, int32_t page);

// Reads a page, numbered from 1, into `content` and `images`, which has room for PDF_MOST_IMAGES.
// Returns what pdf_check returns.
int32_t pdf_read_content(pdf_file *file, int32_t page, pdf_content *content, pdf_image *images);

// Whether the document's pages follow each other from right to left (ISO 32000-1, table 150: Direction).
int32_t pdf_is_right_to_left(pdf_file *file);

// Kinds of poppler's messages about flaws: of a document as it is opened, of what a page shows, and of
// what no page shows, such as links.
enum { PDF_FLAW_OF_FILE = 0, PDF_FLAW_OF_PAGE, PDF_FLAW_BESIDE_PAGES, PDF_FLAW_KINDS };

// Receives poppler's messages from now on, including those of its GLib interface. Call it with 1 before a document is
// opened, and with 0 afterwards.
void pdf_note_flaws(int32_t is_opening);

// Copies the first message of a kind since the last call into `text`, with a NUL, and clears it. Returns 0 if there is
// none.
int32_t pdf_take_flaw(int32_t kind, char *text, int32_t size);

#ifdef __cplusplus
}
#endif

#endif
