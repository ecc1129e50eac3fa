#include "raw_photo.h"

#include <libraw/libraw.h>
#include <stdlib.h>
#include <string.h>

// Damage that LibRaw decodes on from.
static void count_damage(void *count, const char *file, const int offset) {
  (void)file, (void)offset;
  ++*(int *)count;
}

static int32_t reason(int code) {
  if (code == LIBRAW_UNSUFFICIENT_MEMORY || code == LIBRAW_TOO_BIG) return RAW_LACKS_MEMORY;
  return code == LIBRAW_FILE_UNSUPPORTED ? RAW_IS_UNREADABLE : RAW_IS_DAMAGED;
}

static libraw_data_t *open_photo(const char *path, int *damage) {
  libraw_data_t *raw = libraw_init(LIBRAW_OPIONS_NO_MEMERR_CALLBACK);
  if (!raw) return NULL;
  libraw_set_dataerror_handler(raw, count_damage, damage);
  raw->params.use_camera_wb = 1;
  if (libraw_open_file(raw, path) == LIBRAW_SUCCESS) return raw;
  libraw_close(raw);
  return NULL;
}

int32_t raw_photo_read(const char *path, raw_photo *photo) {
  int damage = 0;
  libraw_data_t *raw = open_photo(path, &damage);
  if (!raw) return RAW_IS_UNREADABLE;
  memset(photo, 0, sizeof *photo);
  strncpy(photo->maker, raw->idata.make, sizeof photo->maker - 1);
  strncpy(photo->model, raw->idata.model, sizeof photo->model - 1);
  photo->bands = raw->idata.colors == 1 ? 1 : 3;
  photo->is_dng = raw->idata.dng_version != 0;
  photo->frames = (int32_t)raw->idata.raw_count;
  photo->has_white_balance = raw->color.cam_mul[0] > 0.00001f;
  // Without a matrix LibRaw leaves the identity.
  photo->has_matrix = raw->idata.colors == 1;
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 3; ++column)
      if (raw->color.rgb_cam[row][column] != (row == column)) photo->has_matrix = 1;
  libraw_decoder_info_t decoder;
  const int has_decoder = libraw_get_decoder_info(raw, &decoder) == LIBRAW_SUCCESS;
  photo->is_known = has_decoder && (photo->is_dng || photo->has_matrix);
  // LibRaw's flips are bits: 1 mirrors, 2 turns upside down, 4 swaps rows and columns; EXIF numbers their combinations.
  static const int32_t orientations[8] = {1, 2, 4, 3, 5, 8, 6, 7};
  photo->orientation = orientations[raw->sizes.flip & 7];
  const int64_t sensor = (int64_t)raw->sizes.raw_width * raw->sizes.raw_height;
  // Two bytes of each sample (of a mosaic one for each pixel, else up to four), four more samples for each pixel, and 3 bytes
  // of sRGB: 13, or 19. The rest is for tables and the file's own parts.
  photo->memory = sensor * (raw->idata.filters ? 16 : 22);
  if (libraw_adjust_sizes_info_only(raw) == LIBRAW_SUCCESS) {
    photo->width = raw->sizes.iwidth, photo->height = raw->sizes.iheight;
  }
  libraw_close(raw);
  return photo->width > 0 && photo->height > 0 ? 0 : RAW_IS_UNREADABLE;
}

int32_t raw_photo_develop(const char *path, uint8_t **pixels, int32_t *width, int32_t *height, int32_t *bands) {
  int damage = 0;
  libraw_data_t *raw = open_photo(path, &damage);
  if (!raw) return RAW_IS_UNREADABLE;
  int code = libraw_unpack(raw);
  if (code == LIBRAW_SUCCESS && damage > 0) code = LIBRAW_IO_ERROR;
  if (code == LIBRAW_SUCCESS) code = libraw_dcraw_process(raw);
  libraw_processed_image_t *image = code == LIBRAW_SUCCESS ? libraw_dcraw_make_mem_image(raw, &code) : NULL;
  libraw_close(raw);
  if (!image) return reason(code);
  const size_t count = (size_t)image->width * image->height * image->colors;
  if (image->type == LIBRAW_IMAGE_BITMAP && image->bits == 8 && image->data_size == count &&
      (image->colors == 1 || image->colors == 3)) {
    *width = image->width, *height = image->height, *bands = image->colors;
    // In place: a second copy of the picture would be as large.
    memmove(image, image->data, count);
    *pixels = (uint8_t *)image;
    return 0;
  }
  libraw_dcraw_clear_mem(image);
  return RAW_IS_DAMAGED;
}

int32_t raw_photo_preview(const char *path, uint8_t **bytes, size_t *count) {
  int damage = 0;
  libraw_data_t *raw = open_photo(path, &damage);
  if (!raw) return RAW_IS_UNREADABLE;
  int32_t result = RAW_IS_DAMAGED;
  if (libraw_unpack_thumb(raw) == LIBRAW_SUCCESS && raw->thumbnail.tformat == LIBRAW_THUMBNAIL_JPEG &&
      raw->thumbnail.thumb && raw->thumbnail.tlength > 0) {
    *bytes = malloc(raw->thumbnail.tlength);
    if (*bytes) {
      memcpy(*bytes, raw->thumbnail.thumb, raw->thumbnail.tlength);
      *count = raw->thumbnail.tlength;
      result = 0;
    } else {
      result = RAW_LACKS_MEMORY;
    }
  }
  libraw_close(raw);
  return result;
}

const char *raw_photo_version(void) { return libraw_version(); }
