#include "pdf_content.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include <Catalog.h>
#include <Error.h>
#include <ErrorCodes.h>
#include <GfxState.h>
#include <GlobalParams.h>
#include <OutputDev.h>
#include <PDFDoc.h>
#include <Page.h>
#include <ViewerPreferences.h>
#include <goo/GooString.h>

namespace {

struct Box {
  double left, top, right, bottom;

  bool is_empty() const { return !(left < right && top < bottom); }

  Box clipped(const Box &other) const {
    return {std::max(left, other.left), std::max(top, other.top), std::min(right, other.right),
            std::min(bottom, other.bottom)};
  }

  // Within a point, by which programs round boxes.
  bool covers(const Box &other) const {
    return left <= other.left + 1 && top <= other.top + 1 && right >= other.right - 1 && bottom >= other.bottom - 1;
  }

  void add(double x, double y) {
    left = std::min(left, x), right = std::max(right, x);
    top = std::min(top, y), bottom = std::max(bottom, y);
  }
};

const Box nothing = {INFINITY, INFINITY, -INFINITY, -INFINITY};

// Records what a page draws, in the order of its content, and forgets what an opaque image or rectangle hides.
class ContentRecorder : public OutputDev {
 public:
  std::vector<pdf_image> images;
  // Bounding boxes of vector content.
  std::vector<Box> marks;
  bool is_cut = false;

  explicit ContentRecorder(Box page) : page(page) {}

  bool upsideDown() override { return true; }
  bool useDrawChar() override { return true; }
  bool interpretType3Chars() override { return true; }
  bool useTilingPatternFill() override { return true; }
  bool useShadedFills(int) override { return true; }

  void saveState(GfxState *) override { states.push_back(state); }
  void restoreState(GfxState *) override {
    if (states.empty()) return;
    state = states.back();
    states.pop_back();
  }

  void stroke(GfxState *graphics) override {
    if (graphics->getStrokeOpacity() <= 0) return;
    // Half of the pen on each side: a line has no area of its own.
    const double pen = std::max(graphics->transformWidth(graphics->getLineWidth()), 0.1) / 2;
    Box box = path_box(graphics);
    box = {box.left - pen, box.top - pen, box.right + pen, box.bottom + pen};
    mark(visible(graphics, box));
  }

  void fill(GfxState *graphics) override { fill_path(graphics); }
  void eoFill(GfxState *graphics) override { fill_path(graphics); }

  bool tilingPatternFill(
      GfxState *graphics, Gfx *, Catalog *, GfxTilingPattern *, const double *, int, int, int, int, double,
      double) override {
    return shade(graphics);
  }
  bool functionShadedFill(GfxState *graphics, GfxFunctionShading *) override { return shade(graphics); }
  bool axialShadedFill(GfxState *graphics, GfxAxialShading *, double, double) override { return shade(graphics); }
  bool radialShadedFill(GfxState *graphics, GfxRadialShading *, double, double) override { return shade(graphics); }
  bool gouraudTriangleShadedFill(GfxState *graphics, GfxGouraudTriangleShading *) override { return shade(graphics); }
  bool patchMeshShadedFill(GfxState *graphics, GfxPatchMeshShading *) override { return shade(graphics); }

  void clip(GfxState *graphics) override { note_clip(graphics); }
  void eoClip(GfxState *graphics) override { note_clip(graphics); }
  void clipToStrokePath(GfxState *) override { state.is_clip_odd = true; }

  void drawChar(
      GfxState *graphics, double x, double y, double dx, double dy, double, double, CharCode, int,
      const Unicode *unicode, int length) override {
    draw_glyph(graphics, x, y, dx, dy, unicode, length);
  }
  // A glyph that is a content stream counts as any other: it is not interpreted.
  bool beginType3Char(
      GfxState *graphics, double x, double y, double dx, double dy, CharCode, const Unicode *unicode,
      int length) override {
    draw_glyph(graphics, x, y, dx, dy, unicode, length);
    return true;
  }

  void drawImageMask(
      GfxState *graphics, Object *object, Stream *stream, int width, int height, bool invert, bool interpolate,
      bool is_inline) override {
    add_image(graphics, width, height, false);
    // Reads past an inline image.
    OutputDev::drawImageMask(graphics, object, stream, width, height, invert, interpolate, is_inline);
  }
  void setSoftMaskFromImageMask(
      GfxState *graphics, Object *object, Stream *stream, int width, int height, bool invert, bool is_inline,
      double *matrix) override {
    add_image(graphics, width, height, false);
    OutputDev::setSoftMaskFromImageMask(graphics, object, stream, width, height, invert, is_inline, matrix);
  }
  void drawImage(
      GfxState *graphics, Object *object, Stream *stream, int width, int height, GfxImageColorMap *colours,
      bool interpolate, const int *mask_colours, bool is_inline) override {
    add_image(graphics, width, height, mask_colours == nullptr);
    OutputDev::drawImage(graphics, object, stream, width, height, colours, interpolate, mask_colours, is_inline);
  }
  void drawMaskedImage(
      GfxState *graphics, Object *, Stream *, int width, int height, GfxImageColorMap *, bool, Stream *,
      int mask_width, int mask_height, bool, bool) override {
    add_image(graphics, std::max(width, mask_width), std::max(height, mask_height), false);
  }
  void drawSoftMaskedImage(
      GfxState *graphics, Object *, Stream *, int width, int height, GfxImageColorMap *, bool, Stream *,
      int mask_width, int mask_height, GfxImageColorMap *, bool) override {
    add_image(graphics, std::max(width, mask_width), std::max(height, mask_height), false);
  }

  void beginTransparencyGroup(GfxState *, const double *, GfxColorSpace *, bool, bool, bool) override { groups++; }
  void endTransparencyGroup(GfxState *) override { groups--; }
  void setSoftMask(GfxState *, const double *, bool, Function *, GfxColor *) override { state.is_masked = true; }
  void clearSoftMask(GfxState *) override { state.is_masked = false; }

 private:
  struct State {
    bool is_masked = false, is_clip_odd = false;
  };

  const Box page;
  State state;
  std::vector<State> states;
  // Transparency groups that are open. What is drawn into one need not hide the page.
  int groups = 0;

  Box visible(GfxState *graphics, const Box &box) const {
    Box clip;
    graphics->getClipBBox(&clip.left, &clip.top, &clip.right, &clip.bottom);
    return box.clipped(clip).clipped(page);
  }

  void mark(const Box &box) {
    if (box.is_empty()) return;
    if (marks.size() < PDF_MOST_IMAGES) {
      marks.push_back(box);
    } else {
      marks.back().add(box.left, box.top);
      marks.back().add(box.right, box.bottom);
    }
  }

  bool shade(GfxState *graphics) {
    if (graphics->getFillOpacity() > 0) mark(visible(graphics, page));
    return true;
  }

  static Box path_box(GfxState *graphics) {
    Box box = nothing;
    const GfxPath *path = graphics->getPath();
    for (int each = 0; each < path->getNumSubpaths(); each++) {
      const GfxSubpath *part = path->getSubpath(each);
      for (int point = 0; point < part->getNumPoints(); point++) {
        double x, y;
        graphics->transform(part->getX(point), part->getY(point), &x, &y);
        box.add(x, y);
      }
    }
    return box;
  }

  // Whether the path is a rectangle with sides along the page's.
  static bool is_rectangle(GfxState *graphics) {
    const GfxPath *path = graphics->getPath();
    if (path->getNumSubpaths() != 1) return false;
    const GfxSubpath *part = path->getSubpath(0);
    if (part->getNumPoints() < 4 || part->getNumPoints() > 5) return false;
    for (int point = 1; point < part->getNumPoints(); point++) {
      double from_x, from_y, to_x, to_y;
      graphics->transform(part->getX(point - 1), part->getY(point - 1), &from_x, &from_y);
      graphics->transform(part->getX(point), part->getY(point), &to_x, &to_y);
      if (part->getCurve(point)) return false;
      if (std::fabs(to_x - from_x) > 0.01 && std::fabs(to_y - from_y) > 0.01) return false;
    }
    return true;
  }

  bool is_opaque(GfxState *graphics) const {
    return groups == 0 && !state.is_masked && !state.is_clip_odd && graphics->getFillOpacity() >= 1
           && graphics->getBlendMode() == gfxBlendNormal;
  }

  void hide(const Box &box) {
    marks.erase(
        std::remove_if(marks.begin(), marks.end(), [&](const Box &each) { return box.covers(each); }), marks.end());
    images.erase(
        std::remove_if(
            images.begin(), images.end(),
            [&](const pdf_image &each) { return box.covers({each.left, each.top, each.right, each.bottom}); }),
        images.end());
  }

  void fill_path(GfxState *graphics) {
    if (graphics->getFillOpacity() <= 0) return;
    const Box box = visible(graphics, path_box(graphics));
    if (is_rectangle(graphics)) fill_rectangle(graphics, box);
    else mark(box);
  }

  void fill_rectangle(GfxState *graphics, const Box &box) {
    if (box.is_empty()) return;
    if (is_opaque(graphics)) hide(box);
    // A page of one colour, and white on the white page, have no detail.
    if (box.covers(page)) return;
    GfxRGB colour;
    graphics->getFillRGB(&colour);
    const bool is_white = std::min({colour.r, colour.g, colour.b}) >= gfxColorComp1 - 1;
    if (!(is_white && marks.empty() && images.empty())) mark(box);
  }

  void note_clip(GfxState *graphics) {
    if (!is_rectangle(graphics)) state.is_clip_odd = true;
  }

  void draw_glyph(
      GfxState *graphics, double x, double y, double dx, double dy, const Unicode *unicode, int length) {
    // Mode 3 draws nothing (ISO 32000-1, table 106): text recognition writes so over scans.
    const int mode = graphics->getRender();
    if (mode == 3) return;
    const double opacity = (mode & 3) == 1 ? graphics->getStrokeOpacity() : graphics->getFillOpacity();
    if (opacity <= 0 && mode < 4) return;
    if (length == 1 && (unicode[0] <= 0x20 || unicode[0] == 0xa0)) return;
    double across, down;
    graphics->transformDelta(dx, dy, &across, &down);
    graphics->transform(x, y, &x, &y);
    const double size = std::max(graphics->getTransformedFontSize(), 0.1);
    Box box = nothing;
    box.add(x - size / 4, y - size);
    box.add(x + across + size / 4, y + down + size / 4);
    box.add(x + size / 4, y + size / 4);
    mark(visible(graphics, box));
  }

  void add_image(GfxState *graphics, int columns, int rows, bool has_every_pixel) {
    if (graphics->getFillOpacity() <= 0 || columns < 1 || rows < 1) return;
    const double *matrix = graphics->getCTM();
    Box box = nothing;
    for (int corner = 0; corner < 4; corner++) {
      const double x = corner & 1, y = corner >> 1;
      box.add(matrix[0] * x + matrix[2] * y + matrix[4], matrix[1] * x + matrix[3] * y + matrix[5]);
    }
    const bool is_upright = (std::fabs(matrix[1]) < 0.01 && std::fabs(matrix[2]) < 0.01)
                            || (std::fabs(matrix[0]) < 0.01 && std::fabs(matrix[3]) < 0.01);
    box = visible(graphics, box);
    if (box.is_empty()) return;
    if (columns == 1 && rows == 1) {
      // A rectangle of one colour.
      if (is_upright && has_every_pixel && is_opaque(graphics)) hide(box);
      if (!box.covers(page)) mark(box);
      return;
    }
    if (is_upright && has_every_pixel && is_opaque(graphics)) hide(box);
    if (state.is_clip_odd) is_cut = true;
    if (images.size() == PDF_MOST_IMAGES) {
      mark(box);
      return;
    }
    pdf_image image;
    std::copy(matrix, matrix + 6, image.matrix);
    image.left = box.left, image.top = box.top, image.right = box.right, image.bottom = box.bottom;
    image.columns = columns, image.rows = rows;
    images.push_back(image);
  }
};

// Parts of messages about what no page shows.
const char *const beside_pages[] = {
    "ToUnicode", "Annot",  "annotation", "action",   "Action",   "link",       "URI",   "utline",        "destination",
    "Marked",    "marked", "StructTree", "StructEl", "Metadata", "FileSpec",   "file spec", "ransition", "thumb object",
    "page label", "Signature", "ByteRange", "linearization", "hints table", "hint table"};

std::mutex flaws_mutex;
std::string flaws[PDF_FLAW_KINDS];
std::atomic<bool> is_opening_file = false;

void add_flaw(int kind, const char *message) {
  const std::lock_guard<std::mutex> lock(flaws_mutex);
  if (flaws[kind].empty()) flaws[kind] = message;
}

void note_error(ErrorCategory category, Goffset, const char *message) {
  // Others are about poppler's settings, permissions, or what makes no difference.
  if (category != errSyntaxError && category != errIO && category != errInternal && category != errUnimplemented)
    return;
  int kind = is_opening_file ? PDF_FLAW_OF_FILE : PDF_FLAW_OF_PAGE;
  for (const char *part : beside_pages)
    if (std::strstr(message, part) != nullptr) kind = PDF_FLAW_BESIDE_PAGES;
  add_flaw(kind, message);
}

// As ISO 8859-1, in which passwords are up to PDF 1.7; empty if it has other characters.
std::string latin1(const std::string &utf8) {
  std::string bytes;
  for (size_t at = 0; at < utf8.size(); at++) {
    const unsigned char first = utf8[at];
    if (first < 0x80) {
      bytes += utf8[at];
    } else if ((first == 0xc2 || first == 0xc3) && at + 1 < utf8.size()) {
      bytes += static_cast<char>((first & 3) << 6 | (utf8[++at] & 0x3f));
    } else {
      return {};
    }
  }
  return bytes;
}

std::unique_ptr<PDFDoc> open_document(const char *path, const std::string &password) {
  std::optional<GooString> given;
  if (!password.empty()) given.emplace(password);
  // poppler says nothing of some tables of objects that it rebuilds.
  return std::make_unique<PDFDoc>(
      std::make_unique<GooString>(path), given, given, nullptr,
      [] { add_flaw(PDF_FLAW_OF_FILE, "its table of objects is missing or wrong, and was rebuilt"); });
}

bool is_encrypted(PDFDoc &document) { return !document.isOk() && document.getErrorCode() == errEncrypted; }

}  // namespace

struct pdf_file {
  std::unique_ptr<PDFDoc> document;
  bool has_utf8_password = false;
};

namespace {

// Calls `use` with the page. Returns one of the values of pdf_check.
template <typename Use>
int32_t with_page(pdf_file *file, int32_t number, Use use) {
  try {
    if (!file->document) return PDF_IS_DAMAGED;
    PDFDoc &document = *file->document;
    if (!document.isOk()) return is_encrypted(document) ? PDF_IS_ENCRYPTED : PDF_IS_DAMAGED;
    const int count = document.getNumPages();
    if (count < 1) return PDF_HAS_NO_PAGES;
    if (number < 1 || number > count) return PDF_LACKS_PAGE;
    Page *page = document.getPage(number);
    if (page == nullptr || !page->isOk()) return PDF_IS_DAMAGED;
    use(document, *page);
    return PDF_IS_READABLE;
  } catch (...) {
    // Nothing of C++ may cross Swift frames.
    return PDF_IS_DAMAGED;
  }
}

}  // namespace

pdf_file *pdf_open(const char *path, const char *password) {
  pdf_file *file = new pdf_file;
  try {
    const std::string given = password == nullptr ? "" : password;
    file->document = open_document(path, latin1(given));
    if (!given.empty() && is_encrypted(*file->document)) {
      file->document = open_document(path, given);
      file->has_utf8_password = !is_encrypted(*file->document);
    }
  } catch (...) {
    file->document = nullptr;
  }
  return file;
}

int32_t pdf_has_utf8_password(pdf_file *file) { return file->has_utf8_password; }

void pdf_close(pdf_file *file) { delete file; }

int32_t pdf_page_count(pdf_file *file) {
  int32_t count = 0;
  with_page(file, 1, [&count](PDFDoc &document, Page &) { count = document.getNumPages(); });
  return count;
}

int32_t pdf_check(pdf_file *file, int32_t number) {
  return with_page(file, number, [](PDFDoc &, Page &) {});
}

int32_t pdf_read_content(pdf_file *file, int32_t number, pdf_content *content, pdf_image *images) {
  return with_page(file, number, [content, images](PDFDoc &document, Page &page) {
    const bool is_turned = page.getRotate() % 180 != 0;
    content->width = is_turned ? page.getCropHeight() : page.getCropWidth();
    content->height = is_turned ? page.getCropWidth() : page.getCropHeight();
    content->user_unit = 1;
    const Object dictionary = document.getXRef()->fetch(page.getRef());
    if (dictionary.isDict()) {
      const Object unit = dictionary.dictLookup("UserUnit");
      if (unit.isNum() && unit.getNum() > 0 && unit.getNum() <= 1000) content->user_unit = unit.getNum();
    }
    ContentRecorder recorder({0, 0, content->width, content->height});
    page.displaySlice(&recorder, 72, 72, 0, false, true, -1, -1, -1, -1, false);
    content->has_vectors = !recorder.marks.empty();
    content->is_cut = recorder.is_cut;
    content->image_count = static_cast<int32_t>(recorder.images.size());
    std::copy(recorder.images.begin(), recorder.images.end(), images);
  });
}

int32_t pdf_is_right_to_left(pdf_file *file) {
  int32_t is_right_to_left = 0;
  with_page(file, 1, [&is_right_to_left](PDFDoc &document, Page &) {
    const ViewerPreferences *preferences = document.getCatalog()->getViewerPreferences();
    is_right_to_left = preferences && preferences->getDirection() == ViewerPreferences::directionR2L;
  });
  return is_right_to_left;
}

void pdf_note_flaws(int32_t is_opening) {
  // Never destroyed: the first of its kind sets the function, and the last one's end would take it away.
  static const GlobalParamsIniter *const parameters = new GlobalParamsIniter(note_error);
  (void)parameters;
  setErrorCallback(note_error);
  is_opening_file = is_opening != 0;
}

int32_t pdf_take_flaw(int32_t kind, char *text, int32_t size) {
  const std::lock_guard<std::mutex> lock(flaws_mutex);
  std::string &flaw = flaws[kind];
  if (flaw.empty() || size < 1) return 0;
  const size_t count = std::min(flaw.size(), static_cast<size_t>(size) - 1);
  std::memcpy(text, flaw.data(), count);
  text[count] = 0;
  flaw.clear();
  return 1;
}
