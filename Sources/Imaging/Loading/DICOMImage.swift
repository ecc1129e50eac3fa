import Glibc
import Synchronization
import ZigguratCDICOM
import ZigguratFiles

/// A DICOM file that is no slide, as DCMTK reads its header, and the window of one of its frames. DICOM slides (WSI) are
/// read by OpenSlide (`UntrustedLoader.openSlide`).
package struct DICOMImage: Sendable {
  /// Pixels of each frame.
  package let width, height: Int
  /// The frames that the header claims, and those of them that the file holds.
  package let claimedFrames, frames: Int
  /// The values of its Image Type, with a backslash between them.
  package let type: String
  /// Whether its storage class is one of microscopes, whose localizers show the whole glass.
  package let isMicroscopes: Bool
  /// Whether the file says that its pixels hold text that identifies the patient (PS3.3, C.7.6.1).
  package let hasBurnedInAnnotation: Bool
  /// The values that are black and white, in a clause.
  package private(set) var step: String
  private var window = dicom_window()
  /// Bytes of a shown pixel: 1 or 3.
  fileprivate let bands: Int
  private let path: String
  /// The frame, counted from 0.
  private let frame: Int32
  private let header: dicom_image

  /// Bytes that a frame takes while it is rendered: its values as DCMTK keeps them, and as they are shown.
  package var memory: Int { 16 * width * height + (32 << 20) }

  /// DCMTK's data dictionary, which it needs for files without the types of their fields.
  static let dictionary = "/usr/share/libdcmtk17"

  /// `nil` if the file is no DICOM, or a slide.
  ///
  /// - Parameter frame: the frame that is to be shown, counted from 0.
  /// - Throws: if it holds no picture, or is damaged.
  package init?(path: String, frame: Int = 0) throws(ImagingError) {
    let start = FileSignature(ofFileAt: path)
    guard start.isDICOM, !start.isDICOMSlide else { return nil }
    var image = dicom_image()
    self.frame = Int32(clamping: frame)
    let code = dicom_read(path, self.frame, &image)
    let kind = String(characters: image.kind)
    guard code == 0 else {
      throw ImagingError(
        opening: path,
        code == DICOM_HAS_NO_PICTURE
          ? "is DICOM without a picture (\(kind.isEmpty ? "of no known kind" : kind))"
          : Self.damaged)
    }
    guard image.has_decoder != 0 else {
      throw ImagingError(
        opening: path,
        "is DICOM in \(String(characters: image.coding)), which is not read: decompress it first, as with "
          + "gdcmconv --raw FILE FILE.dcm")
    }
    type = String(characters: image.type)
    isMicroscopes = kind.contains("Microscopic")
    hasBurnedInAnnotation = image.has_burned_in_annotation != 0
    width = Int(image.width)
    height = Int(image.height)
    claimedFrames = Int(image.claimed_frames)
    frames = Int(image.frames)
    bands = Int(image.bands)
    self.path = path
    header = image
    step =
      if image.bands == 3 {
        "colours of the DICOM file taken"
      } else if image.has_window != 0 {
        "DICOM's window taken: center \(Self.number(image.window_center)), width \(Self.number(image.window_width))"
      } else if image.has_table != 0 {
        "DICOM's table of values taken"
      } else if image.bits > 8 {
        "DICOM without a window: from the least to the greatest value"
          + (image.frames > 1 ? " of all frames" : " of the picture")
      } else {
        "DICOM without a window: all values of its \(image.bits) bits"
      }
  }

  /// An end of a window: a value after the modality's rescaling, or percent of a frame's pixels.
  package enum End: Sendable {
    case value(Double)
    case percentile(Double)

    fileprivate var number: Double {
      switch self {
      case .value(let number), .percentile(let number): number
      }
    }
    fileprivate var isShare: Bool { if case .percentile = self { true } else { false } }
  }

  /// The values that are black and white, or, of an image that is white where its values are low, white and black.
  package enum Window: Sendable {
    /// The least and the greatest value of each frame.
    case values
    /// All values that the samples may have.
    case samples
    case ends(End, End)
  }

  /// Returns the file with another window than its own.
  ///
  /// - Parameter name: of the window, for a person.
  package func with(_ window: Window, name: String) -> DICOMImage {
    var file = self
    guard bands == 1 else {
      file.step += "; the window \(name) is ignored, which is for gray"
      return file
    }
    switch window {
    case .values: file.window.kind = Int32(DICOM_WINDOW_OF_VALUES)
    case .samples: file.window.kind = Int32(DICOM_WINDOW_OF_SAMPLES)
    case .ends(let low, let high):
      file.window = dicom_window(
        kind: Int32(DICOM_WINDOW_GIVEN), low: low.number, high: high.number,
        low_is_share: low.isShare ? 1 : 0, high_is_share: high.isShare ? 1 : 0)
    }
    file.step = "window \(name) taken instead of DICOM's own"
    return file
  }

  private static func number(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? String(value)
  }

  /// Whether black and white are the least and the greatest value of all frames. The frames of a series are compared by
  /// eye.
  private var isStretched: Bool {
    window.kind == Int32(DICOM_WINDOW_OF_FILE) && bands == 1 && frames > 1 && header.bits > 8
      && header.has_window == 0 && header.has_table == 0
  }

  private static let lastRange = Mutex<(file: FileIdentity, range: dicom_range)?>(nil)

  /// Returns the range of the values of all frames. It is remembered for the last file until it is written to: its
  /// frames are built one after the other, and the range takes as long as all of them.
  private func range() throws(ImagingError) -> dicom_range {
    let identity = FileIdentity(path: path)
    if let known = Self.lastRange.withLock({ $0 }), known.file == identity { return known.range }
    var (header, range) = (header, dicom_range())
    guard dicom_find_range(path, &header, &range) == 0 else { throw damage }
    if let identity { Self.lastRange.withLock { [range] in $0 = (identity, range) } }
    return range
  }

  private static let damaged = "is DICOM that is damaged or cut short"
  private var damage: ImagingError { ImagingError(opening: path, Self.damaged) }

  /// Returns the pixels of the frame, as they are shown.
  fileprivate func rendered() throws(ImagingError) -> DecodedOnce.Pixels {
    let count = width * height * bands
    guard let base = malloc(count)?.assumingMemoryBound(to: UInt8.self) else {
      throw ImagingError(opening: path, "is DICOM that needs more memory than there is")
    }
    let pixels = DecodedOnce.Pixels(base)
    var (header, window) = (header, window)
    if isStretched {
      let range = try range()
      window = dicom_window(
        kind: Int32(DICOM_WINDOW_GIVEN), low: range.least, high: range.greatest, low_is_share: 0,
        high_is_share: 0)
    }
    let code = dicom_render(path, &header, frame, &window, base, count)
    guard code == 0 else { throw damage }
    return pixels
  }
}

extension Image {
  /// The frame of a DICOM file, as a viewer shows it: 8-bit gray or sRGB. Nothing is decoded before the first pixel is
  /// asked for.
  package convenience init(_ file: DICOMImage, path: String) throws(ImagingError) {
    let header = GeneratedHeader(
      width: file.width, height: file.height, bands: file.bands, sampleType: .byte,
      interpretation: file.bands == 1 ? "b-w" : "srgb")
    let pixels = DecodedOnce(width: file.width, bands: file.bands) { () throws(ImagingError) in
      try file.rendered()
    }
    try self.init(header, fields: nil, subject: path, from: pixels)
    setString("vips-loader", "dicomload")
  }
}
