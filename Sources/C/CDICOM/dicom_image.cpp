#include "dicom_image.h"

// Before all other headers of DCMTK.
#include <dcmtk/config/osconfig.h>

#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmdata/dcrledrg.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmimage/diregist.h>
#include <dcmtk/dcmimgle/dcmimage.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpls/djdecode.h>
#include <dcmtk/oflog/oflog.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
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

// Reads the data set of a file. Values longer than 4 KB stay in the file.
bool load(DcmFileFormat &file, const char *path) {
  return file.loadFile(path, EXS_Unknown, EGL_noChange, 4096).good();
}

// Returns the item of a frame's functional group, the frame's own before the one of all frames (PS3.3, C.7.6.16); null
// if there is none.
DcmItem *group(DcmDataset *data, int32_t frame, const DcmTagKey &name) {
  const struct {
    DcmTagKey sequence;
    long item;
  } places[] = {{DCM_PerFrameFunctionalGroupsSequence, frame}, {DCM_SharedFunctionalGroupsSequence, 0}};
  for (const auto &place : places) {
    DcmItem *groups = nullptr, *item = nullptr;
    if (data->findAndGetSequenceItem(place.sequence, groups, place.item).good() &&
        groups->findAndGetSequenceItem(name, item, 0).good()) {
      return item;
    }
  }
  return nullptr;
}

// Whether the window of an item is DICOM's usual one, whose width counts both of its ends (PS3.3, C.11.2.1.2.1). The other
// functions have none of its halves and ones.
bool is_linear(DcmItem *data) {
  OFString name;
  return data->findAndGetOFString(DCM_VOILUTFunction, name).bad() || (name != "LINEAR_EXACT" && name != "SIGMOID");
}

// Finds the window of a frame. A linear window has a width of at least 1, and the others of more than 0 (PS3.3,
// C.11.2.1.2 and C.11.2.1.3); without one there is no window.
bool find_window(DcmItem *data, double &center, double &width) {
  return data->findAndGetFloat64(DCM_WindowCenter, center).good() &&
         data->findAndGetFloat64(DCM_WindowWidth, width).good() && std::isfinite(center) && std::isfinite(width) &&
         (is_linear(data) ? width >= 1 : width > 0);
}

// The modality's rescaling where DCMTK is not to do it: value = slope × sample + intercept. DCMTK rounds each value to an
// integer, so windows are computed back to samples instead.
struct Rescaling {
  double slope = 1, intercept = 0;

  double sample(double value) const { return (value - intercept) / slope; }
  double value(double sample) const { return slope * sample + intercept; }
};

// Takes the rescaling out of a data set if its values are no integers. Tables of values stay: they are for integers.
Rescaling take_fractions(DcmDataset *data, const dicom_image &header) {
  Rescaling rescaling;
  double slope = 1, intercept = 0;
  if (header.bands != 1 || (header.has_table && !header.has_window) ||
      data->tagExistsWithValue(DCM_ModalityLUTSequence) ||
      data->findAndGetFloat64(DCM_RescaleSlope, slope).bad() ||
      data->findAndGetFloat64(DCM_RescaleIntercept, intercept).bad() || !std::isfinite(slope) ||
      !std::isfinite(intercept) || slope == 0 || (slope == std::floor(slope) && intercept == std::floor(intercept))) {
    return rescaling;
  }
  rescaling.slope = slope, rescaling.intercept = intercept;
  for (const DcmTagKey &name : {DCM_RescaleIntercept, DCM_RescaleSlope, DCM_RescaleType}) {
    data->findAndDeleteElement(name);
  }
  return rescaling;
}

// Whether there is a table of values that can be used.
bool has_table(DcmDataset *data) {
  DcmItem *item = nullptr;
  DcmElement *values = nullptr;
  Uint16 count = 0;
  return data->findAndGetSequenceItem(DCM_VOILUTSequence, item, 0).good() &&
         item->findAndGetUint16(DCM_LUTDescriptor, count, 0).good() &&
         item->findAndGetElement(DCM_LUTData, values).good() && values->getLength() >= (count == 0 ? 65536U : count);
}

// Counts the whole frames of the pixel data; false if there is none. NumberOfFrames is only a claim.
bool count_frames(DcmDataset *data, int64_t claimed, int64_t samples, dicom_image *image) {
  DcmElement *element = nullptr;
  if (data->findAndGetElement(DCM_PixelData, element).bad()) return false;
  auto *pixels = dynamic_cast<DcmPixelData *>(element);
  if (!pixels) return false;
  const E_TransferSyntax coding = data->getOriginalXfer();
  int64_t frames = 0;
  if (DcmXfer(coding).isEncapsulated()) {
    E_TransferSyntax kind = EXS_Unknown;
    const DcmRepresentationParameter *parameter = nullptr;
    DcmPixelSequence *fragments = nullptr;
    DcmPixelItem *table = nullptr;
    pixels->getOriginalRepresentationKey(kind, parameter);
    if (pixels->getEncapsulatedRepresentation(kind, parameter, fragments).bad() || !fragments) return false;
    // A frame has at least one fragment, and an entry in the table of offsets in front of them, which may be empty.
    frames = static_cast<int64_t>(fragments->card()) - 1;
    const int64_t offsets = fragments->getItem(table, 0).good() ? table->getLength() / 4 : 0;
    if (offsets > 0) frames = std::min(frames, offsets);
  } else {
    Uint16 bits = 0;
    data->findAndGetUint16(DCM_BitsAllocated, bits);
    const int64_t frame = int64_t{image->width} * image->height * samples * bits;
    const int64_t there = 8 * static_cast<int64_t>(element->getLength(coding));
    if (frame == 0 || there == 0) return false;
    frames = there / frame;
  }
  image->claimed_frames = static_cast<int32_t>(claimed);
  image->frames = static_cast<int32_t>(std::min(frames, claimed));
  return image->frames > 0;
}

int32_t read(const char *path, int32_t frame, dicom_image *image) {
  DcmFileFormat file;
  if (!load(file, path)) return DICOM_IS_UNREADABLE;
  DcmDataset *data = file.getDataset();
  OFString text;
  data->findAndGetOFString(DCM_SOPClassUID, text);
  copy(image->kind, dcmFindNameOfUID(text.c_str(), text.c_str()));
  copy(image->coding, DcmXfer(data->getOriginalXfer()).getXferName());
  text.clear();
  data->findAndGetOFStringArray(DCM_ImageType, text);
  copy(image->type, text.c_str());
  text.clear();
  data->findAndGetOFString(DCM_BurnedInAnnotation, text);
  image->has_burned_in_annotation = text == "YES";
  image->has_decoder = has_decoder(image->coding);
  Uint16 rows = 0, columns = 0, samples = 1, bits = 0;
  Sint32 frames = 1;
  data->findAndGetUint16(DCM_Rows, rows);
  data->findAndGetUint16(DCM_Columns, columns);
  data->findAndGetUint16(DCM_SamplesPerPixel, samples);
  data->findAndGetUint16(DCM_BitsStored, bits);
  data->findAndGetSint32(DCM_NumberOfFrames, frames);
  if (rows == 0 || columns == 0 || !data->tagExists(DCM_PixelData)) return DICOM_HAS_NO_PICTURE;
  text.clear();
  data->findAndGetOFString(DCM_PhotometricInterpretation, text);
  image->width = columns, image->height = rows, image->bits = bits;
  image->bands = samples == 1 && text.compare(0, 10, "MONOCHROME") == 0 ? 1 : 3;
  // Two pixels share their colours.
  const bool is_halved = samples == 3 && (text == "YBR_FULL_422" || text == "YBR_PARTIAL_422");
  if (!count_frames(data, std::max<Sint32>(frames, 1), is_halved ? 2 : samples, image)) return DICOM_IS_UNREADABLE;
  DcmItem *own = group(data, frame, DCM_FrameVOILUTSequence);
  image->has_window = (own && find_window(own, image->window_center, image->window_width)) ||
                      find_window(data, image->window_center, image->window_width);
  image->has_table = has_table(data);
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

// Makes all values that the samples may have the window. DCMTK by itself makes white of n bits 256 · (1 − 1 / 2ⁿ), which is
// 128 of one bit, and rounds to 255 from 8 bits on.
bool set_whole_range(DicomImage &image, const dicom_image &header) {
  double least = 0, greatest = 0;
  if (header.bits >= 8 || !image.getMinMaxValues(least, greatest, 1) || greatest <= least) {
    return image.setNoVoiTransformation(), true;
  }
  image.setVoiLutFunction(EFV_Linear);
  return image.setWindow((least + greatest + 1) / 2, greatest - least + 1) != 0;
}

// Whether the image has the window.
bool set_window(DicomImage &image, const dicom_image &header, const dicom_window &window, const Rescaling &rescaling,
                bool is_linear) {
  switch (window.kind) {
    case DICOM_WINDOW_OF_VALUES: return image.setMinMaxWindow(), true;
    case DICOM_WINDOW_OF_SAMPLES: return set_whole_range(image, header);
    case DICOM_WINDOW_GIVEN: {
      const DiPixel *values = image.getInterData();
      if (values == nullptr) return false;
      // Where the greatest value is the least sample, its share counts from the other end.
      const auto end = [&](double number, bool is_share) {
        if (!is_share) return rescaling.sample(number);
        return percentile(*values, rescaling.slope < 0 ? 100 - number : number);
      };
      double low = end(window.low, window.low_is_share), high = end(window.high, window.high_is_share);
      if (rescaling.slope < 0) std::swap(low, high);
      // An empty window has no gray: what is above it is white.
      if (high <= low) high = low + 1;
      // PS3.3, C.11.2.1.2.1: the first value that is black, and the first that is white.
      image.setVoiLutFunction(EFV_Linear);
      return image.setWindow((low + high + 1) / 2, high - low + 1) != 0;
    }
    default: break;
  }
  if (header.has_window) {
    const double half = is_linear ? 0.5 : 0;
    const double center = rescaling.sample(header.window_center - half) + half;
    const double width = (header.window_width - 2 * half) / std::fabs(rescaling.slope) + 2 * half;
    // DCMTK has no narrower ones.
    return image.setWindow(center, std::max(width, 1.0)) != 0;
  }
  if (header.has_table) return image.setVoiLut(0) != 0;
  if (header.bits > 8) image.setMinMaxWindow();
  return header.bits >= 8 || set_whole_range(image, header);
}

// Puts what DCMTK looks for in the data set itself there: what the functional groups of a frame say, and the number of
// frames there are.
void settle(DcmDataset *data, const dicom_image *image, int32_t frame) {
  if (image->frames != image->claimed_frames) {
    data->putAndInsertString(DCM_NumberOfFrames, std::to_string(image->frames).c_str());
  }
  const auto take = [data](DcmItem *item, const DcmTagKey &name) {
    OFString text;
    if (item && item->findAndGetOFStringArray(name, text).good()) data->putAndInsertString(name, text.c_str());
  };
  take(group(data, frame, DCM_FrameVOILUTSequence), DCM_VOILUTFunction);
  DcmItem *values = group(data, frame, DCM_PixelValueTransformationSequence);
  for (const DcmTagKey &name : {DCM_RescaleIntercept, DCM_RescaleSlope, DCM_RescaleType}) take(values, name);
}

constexpr unsigned long flags = CIF_UsePartialAccessToPixelData | CIF_AcrNemaCompatibility;

int32_t render(const char *path, const dicom_image *header, int32_t frame, const dicom_window &window, uint8_t *pixels,
               size_t count) {
  DcmFileFormat file;
  if (!load(file, path)) return DICOM_IS_UNREADABLE;
  DcmDataset *data = file.getDataset();
  settle(data, header, frame);
  const Rescaling rescaling = take_fractions(data, *header);
  // One frame is decoded, and the others stay in the file.
  DicomImage image(data, data->getOriginalXfer(), flags, frame, 1);
  if (image.getStatus() != EIS_Normal) return DICOM_IS_DAMAGED;
  if (image.getWidth() != static_cast<unsigned long>(header->width) ||
      image.getHeight() != static_cast<unsigned long>(header->height) ||
      image.isMonochrome() != (header->bands == 1)) {
    return DICOM_IS_DAMAGED;
  }
  if (image.isMonochrome()) {
    // Drawings over the picture may name a patient.
    image.removeAllOverlays();
    if (!set_window(image, *header, window, rescaling, is_linear(data))) return DICOM_IS_DAMAGED;
    if (rescaling.slope < 0) image.setPolarity(EPP_Reverse);
  }
  return image.getOutputData(pixels, count, 8, 0, 0) ? 0 : DICOM_IS_DAMAGED;
}

int32_t find_range(const char *path, const dicom_image *header, dicom_range *range) {
  DcmFileFormat file;
  if (!load(file, path)) return DICOM_IS_UNREADABLE;
  DcmDataset *data = file.getDataset();
  range->least = HUGE_VAL, range->greatest = -HUGE_VAL;
  for (int32_t frame = 0; frame < header->frames; ++frame) {
    // Each by itself, with the rescaling of its own functional group.
    settle(data, header, frame);
    const Rescaling rescaling = take_fractions(data, *header);
    DicomImage image(data, data->getOriginalXfer(), flags, frame, 1);
    double least = 0, greatest = 0;
    // A frame that cannot be decoded is reported when it is rendered.
    if (image.getStatus() != EIS_Normal || !image.getMinMaxValues(least, greatest)) continue;
    least = rescaling.value(least), greatest = rescaling.value(greatest);
    if (least > greatest) std::swap(least, greatest);
    range->least = std::min(range->least, least), range->greatest = std::max(range->greatest, greatest);
  }
  return range->least <= range->greatest ? 0 : DICOM_IS_DAMAGED;
}

}  // namespace

int32_t dicom_read(const char *path, int32_t frame, dicom_image *image) {
  // Nothing of C++ may cross Swift frames.
  try {
    start();
    *image = {};
    return read(path, frame, image);
  } catch (...) {
    return DICOM_IS_UNREADABLE;
  }
}

int32_t dicom_find_range(const char *path, const dicom_image *image, dicom_range *range) {
  try {
    start();
    return find_range(path, image, range);
  } catch (...) {
    return DICOM_IS_DAMAGED;
  }
}

int32_t dicom_render(const char *path, const dicom_image *image, int32_t frame, const dicom_window *window,
                     uint8_t *pixels, size_t count) {
  try {
    start();
    return render(path, image, frame, *window, pixels, count);
  } catch (...) {
    return DICOM_IS_DAMAGED;
  }
}
