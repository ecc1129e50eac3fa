// libjpeg's errors as a jump back to whoever called it, with their text.
#ifndef ZIGGURAT_JPEG_ERRORS_H
#define ZIGGURAT_JPEG_ERRORS_H

#include "jpeg_stream.h"

#include <setjmp.h>
#include <stdio.h>

#include <jpeglib.h>

typedef struct {
  struct jpeg_error_mgr base;
  jmp_buf jump;
  // JS_ERROR_SIZE bytes for the text; NULL where nobody asks.
  char *text;
} js_errors;

struct jpeg_error_mgr *js_set_errors(js_errors *errors);

#endif
