#include "dicom_image.h"

// Before all other headers of DCMTK.
#include <dcmtk/config/osconfig.h>

#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmimage/diregist.h>
#include <dcmtk/dcmimgle/dcmimage.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpls/djdecode.h>
#include <dcmtk/oflog/oflog.h>

#include <cstring>

namespace {

// Once: DCMTK's log goes to standard error, and its decoders are registered for the process.
void start() {
  static const bool is_started = [] {
    OFLog::configure(OFLogger::OFF_LOG_LEVEL);
    DcmRLEDecoderRegistration::registerCodecs();
    DJDecoderRegistration::registerCodecs();
    DJLSDecoderRegistration::registerCodecs();
    return true;
  }();
  (void)is_started;
}

template <size_t size>
void copy(char (&to)[size], const char *from) {
  strncpy(to, from ? from : "", size - 1);
}

// Whether DCMTK's free part has one: JPEG 2000 and video it has not.
bool has_decoder(const char *coding) {
  for (const char *each : {"JPEG 2000", "JPIP", "MPEG", "HEVC", "High Throughput"}) {
    if (strncmp(coding, each, strlen(each)) == 0) return false;
  }
  return true;
}

int32_t read(const char *path, dicom_image *image) {
  DcmFileFormat file;
  // Values longer than 4 KB stay in the file.
  if (file.loadFile(path, EXS_Unknown, EGL_noChange, 4096).bad()) return DICOM_IS_UNREADABLE;
  DcmDataset *data = file.getDataset();
  OFString text;
  data->findAndGetOFString(DCM_SOPClassUID, text);
  copy(image->kind, dcmFindNameOfUID(text.c_str(), text.c_str()));
  copy(image->coding, DcmXfer(data->getOriginalXfer()).getXferName());
  image->has_decoder = has_decoder(image->coding);
  Uint16 rows = 0, columns = 0, samples = 1, bits = 0;
  Sint32 frames = 1;
  data->findAndGetUint16(DCM_Rows, rows);
  data->findAndGetUint16(DCM_Columns, columns);
  data->findAndGetUint16(DCM_SamplesPerPixel, samples);
  data->findAndGetUint16(DCM_BitsStored, bits);
  data->findAndGetSint32(DCM_NumberOfFrames, frames);
  if (rows == 0 || columns == 0 || !data->tagExists(DCM_PixelData)) return DICOM_HAS_NO_PICTURE;
  data->findAndGetOFString(DCM_PhotometricInterpretation, text);
  image->width = columns, image->height = rows, image->bits = bits;
  image->bands = samples == 1 && text.compare(0, 10, "MONOCHROME") == 0 ? 1 : 3;
  image->frames = frames < 1 ? 1 : frames;
  image->has_window = data->findAndGetFloat64(DCM_WindowCenter, image->window_center).good() &&
                      data->findAndGetFloat64(DCM_WindowWidth, image->window_width).good();
  image->has_table = data->tagExists(DCM_VOILUTSequence);
  return 0;
}

int32_t render(const char *path, int32_t frame, uint8_t *pixels, size_t count) {
  dicom_image header = {};
  const int32_t code = read(path, &header);
  if (code != 0) return code;
  // One frame is decoded, and the others stay in the file.
  DicomImage image(path, CIF_UsePartialAccessToPixelData | CIF_AcrNemaCompatibility, frame, 1);
  if (image.getStatus() != EIS_Normal) return DICOM_IS_DAMAGED;
  if (image.getWidth() != static_cast<unsigned long>(header.width) ||
      image.getHeight() != static_cast<unsigned long>(header.height) || image.isMonochrome() != (header.bands == 1)) {
    return DICOM_IS_DAMAGED;
  }
  if (image.isMonochrome()) {
    // Drawings over the picture may name a patient.
    image.removeAllOverlays();
    if (image.getWindowCount() > 0) {
      image.setWindow(0);
    } else if (image.getVoiLutCount() > 0) {
      image.setVoiLut(0);
    } else if (header.bits > 8) {
      image.setMinMaxWindow();
    }
  }
  return image.getOutputData(pixels, count, 8, 0, 0) ? 0 : DICOM_IS_DAMAGED;
}

}  // namespace

int32_t dicom_read(const char *path, dicom_image *image) {
  // Nothing of C++ may cross Swift frames.
  try {
    start();
    *image = {};
    return read(path, image);
  } catch (...) {
    return DICOM_IS_UNREADABLE;
  }
}

int32_t dicom_render(const char *path, int32_t frame, uint8_t *pixels, size_t count) {
  try {
    start();
    return render(path, frame, pixels, count);
  } catch (...) {
    return DICOM_IS_DAMAGED;
  }
}
