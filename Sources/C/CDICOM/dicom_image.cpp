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

#include <algorithm>
#include <cstring>
#include <vector>

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

// The value below which `share` percent of the values lie, between the two nearest ones (NumPy's `percentile`).
template <typename Value>
double percentile(const void *data, size_t count, double share) {
  const Value *values = static_cast<const Value *>(data);
  std::vector<Value> sorted(values, values + count);
  const double place = share / 100 * static_cast<double>(count - 1);
  const size_t rank = static_cast<size_t>(place);
  std::nth_element(sorted.begin(), sorted.begin() + rank, sorted.end());
  const double low = sorted[rank];
  if (rank + 1 == count) return low;
  const double high = *std::min_element(sorted.begin() + rank + 1, sorted.end());
  return low + (high - low) * (place - static_cast<double>(rank));
}

double percentile(const DiPixel &pixels, double share) {
  const void *data = pixels.getData();
  const size_t count = pixels.getCount();
  if (data == nullptr || count == 0) return 0;
  switch (pixels.getRepresentation()) {
    case EPR_Uint8: return percentile<Uint8>(data, count, share);
    case EPR_Sint8: return percentile<Sint8>(data, count, share);
    case EPR_Uint16: return percentile<Uint16>(data, count, share);
    case EPR_Sint16: return percentile<Sint16>(data, count, share);
    case EPR_Uint32: return percentile<Uint32>(data, count, share);
    case EPR_Sint32: return percentile<Sint32>(data, count, share);
  }
  return 0;
}

// Whether the image has the window.
bool set_window(DicomImage &image, const dicom_image &header, const dicom_window &window) {
  switch (window.kind) {
    case DICOM_WINDOW_OF_VALUES: return image.setMinMaxWindow(), true;
    case DICOM_WINDOW_OF_SAMPLES: return image.setNoVoiTransformation(), true;
    case DICOM_WINDOW_GIVEN: {
      double low = window.low, high = window.high;
      const DiPixel *values = image.getInterData();
      if (values == nullptr) return false;
      if (window.low_is_share) low = percentile(*values, low);
      if (window.high_is_share) high = percentile(*values, high);
      // An empty window has no gray: what is above it is white.
      if (high <= low) high = low + 1;
      // PS3.3, C.11.2.1.2.1: the first value that is black, and the first that is white.
      image.setVoiLutFunction(EFV_Linear);
      return image.setWindow((low + high + 1) / 2, high - low + 1) != 0;
    }
    default: break;
  }
  if (image.getWindowCount() > 0) {
    image.setWindow(0);
  } else if (image.getVoiLutCount() > 0) {
    image.setVoiLut(0);
  } else if (header.bits > 8) {
    image.setMinMaxWindow();
  }
  return true;
}

int32_t render(const char *path, int32_t frame, const dicom_window &window, uint8_t *pixels, size_t count) {
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
    if (!set_window(image, header, window)) return DICOM_IS_DAMAGED;
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

int32_t dicom_render(const char *path, int32_t frame, const dicom_window *window, uint8_t *pixels, size_t count) {
  try {
    start();
    return render(path, frame, *window, pixels, count);
  } catch (...) {
    return DICOM_IS_DAMAGED;
  }
}
