#include "jpeg_errors.h"

#include <jerror.h>

static void on_error(j_common_ptr common) {
  js_errors *errors = (js_errors *)common->err;
  char text[JMSG_LENGTH_MAX];
  errors->base.format_message(common, text);
  if (errors->text) snprintf(errors->text, JS_ERROR_SIZE, "%s", text);
  longjmp(errors->jump, 1);
}

// A file that ends early is an error; other damage leaves a picture, which libjpeg mends as it can.
static void on_message(j_common_ptr common, int level) {
  if (level < 0) {
    common->err->num_warnings++;
    if (common->err->msg_code == JWRN_JPEG_EOF) on_error(common);
  }
}

static void on_output(j_common_ptr common) { (void)common; }

struct jpeg_error_mgr *js_set_errors(js_errors *errors) {
  jpeg_std_error(&errors->base);
  errors->base.error_exit = on_error;
  errors->base.emit_message = on_message;
  errors->base.output_message = on_output;
  errors->text = NULL;
  return &errors->base;
}
