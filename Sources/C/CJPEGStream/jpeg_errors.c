#include "jpeg_errors.h"

#include <jerror.h>

static void on_error(j_common_ptr common) {
  js_errors *errors = (js_errors *)common->err;
  char text[JMSG_LENGTH_MAX];
  errors->base.format_message(common, text);
  if (errors->text) snprintf(errors->text, JS_ERROR_SIZE, "%s", text);
  longjmp(errors->jump, 1);
}

static int severity(const js_errors *errors) {
  switch (errors->base.msg_code) {
  // Bytes of a scan that no pixel needed. Padding by cameras is not damage.
  case JWRN_EXTRANEOUS_DATA: return errors->is_in_scan && !errors->is_padded ? JS_ERROR : JS_WARNING;
  case JWRN_ADOBE_XFORM:
  case JWRN_JFIF_MAJOR:
  case JWRN_BOGUS_ICC:
  case JWRN_TOO_MUCH_DATA: return JS_WARNING;
  default: return JS_ERROR;
  }
}

// libjpeg warns of damage and continues with an approximate picture. Its messages after the end of the data are about
// the missing end.
static void on_message(j_common_ptr common, int level) {
  if (level >= 0) return;
  js_errors *errors = (js_errors *)common->err;
  js_damage *damage = &errors->damage;
  int code = common->err->msg_code;
  common->err->num_warnings++;
  if (code == JWRN_JPEG_EOF) {
    if (errors->is_strict) on_error(common);
    damage->is_cut_off = 1;
    // An arithmetic decoder assumes zeros for missing bits, and does not report it. Zeros at the end of a scan may be
    // omitted (ITU-T T.81, D.1.8), so the last row counts as complete.
    if (common->is_decompressor && errors->is_in_scan) {
      struct jpeg_decompress_struct *jpeg = (struct jpeg_decompress_struct *)common;
      if (jpeg->arith_code && jpeg->input_iMCU_row + 1 < jpeg->total_iMCU_rows)
        damage->first_lost_row = (int)jpeg->input_iMCU_row * jpeg->max_v_samp_factor * DCTSIZE;
    }
  } else if (damage->is_cut_off) {
    // The remaining bits are used up.
    if (code == JWRN_HIT_MARKER && damage->first_lost_row < 0 && common->is_decompressor) {
      struct jpeg_decompress_struct *jpeg = (struct jpeg_decompress_struct *)common;
      damage->first_lost_row = (int)jpeg->input_iMCU_row * jpeg->max_v_samp_factor * DCTSIZE;
    }
  } else if (severity(errors) > damage->severity) {
    damage->severity = severity(errors);
    char text[JMSG_LENGTH_MAX];
    errors->base.format_message(common, text);
    snprintf(damage->text, JS_ERROR_SIZE, "%s", text);
  }
}

static void on_output(j_common_ptr common) { (void)common; }

struct jpeg_error_mgr *js_set_errors(js_errors *errors) {
  jpeg_std_error(&errors->base);
  errors->base.error_exit = on_error;
  errors->base.emit_message = on_message;
  errors->base.output_message = on_output;
  errors->text = NULL;
  errors->is_strict = 1;
  errors->is_in_scan = 0;
  errors->is_padded = 0;
  errors->damage = (js_damage){.first_lost_row = -1};
  return &errors->base;
}
