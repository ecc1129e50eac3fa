// Returns libjpeg's errors to the caller by longjmp, with their text.
#ifndef ZIGGURAT_JPEG_ERRORS_H
#define ZIGGURAT_JPEG_ERRORS_H

#include "jpeg_stream.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct {
  struct jpeg_error_mgr base;
  jmp_buf jump;
  // JS_ERROR_SIZE bytes for the text; NULL if it is not needed.
  char *text;
  // Whether truncated data are an error. Otherwise they are damage.
  int is_strict;
  // Whether the first scan has begun.
  int is_in_scan;
  // Whether only equal bytes are between the last pixel and the next marker.
  int is_padded;
  js_damage damage;
} js_errors;

struct jpeg_error_mgr *js_set_errors(js_errors *errors);

#endif
