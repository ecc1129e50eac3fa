import Glibc
import TileStorage
import ZigguratFiles
import ZigguratImaging

/// Properties of a camera's RAW file that need no decoder.
struct RawFileInfo {
  /// An embedded JPEG.
  struct Preview {
    let place: Range<Int>
    /// EXIF orientation, 1…8.
    let orientation: Int
  }

  /// `DNG`, `Canon CR3`.
  let kind: String
  /// Whether the content says so; otherwise the name does, and only LibRaw knows.
  let isCertain: Bool
  /// Pixels of the sensor, as a TIFF's directories have them.
  private(set) var sensor: (width: Int, height: Int)?
  /// Whether the sensor's samples are floating-point numbers, as in DNG files of several exposures.
  private(set) var isFloatingPoint = false
  /// JPEGs of a TIFF's directories.
  private(set) var previews: [Preview] = []

  /// `nil` if the file is a picture of another format by its content, or neither its content nor its name says RAW.
  ///
  /// - Parameter tiff: the directories of a TIFF; nil for any other file.
  init?(_ file: SourceFile, tiff: TIFFDirectories?) {
    let start = file.bytes(atMost: ImageFormat.signatureBytes)
    if let kind = RawFormat.kind(start) ?? tiff?.rawKind {
      self.kind = kind
      isCertain = true
    } else if tiff != nil || ImageFormat(start: start) == nil, ImageFileName.format(of: file.name) == .raw {
      kind = "by its name"
      isCertain = false
    } else {
      return nil
    }
    guard let tiff else { return }
    let all = tiff.everything
    let largest = all.filter(\.isSensors).max { $0.area < $1.area }
    sensor = largest.map { ($0.width, $0.height) }
    isFloatingPoint = largest?.isFloatingPoint == true
    let upright = tiff.all.first?.orientation ?? 1
    previews = all.filter { !$0.isSensors }.compactMap { directory in
      directory.jpeg.map {
        Preview(place: $0, orientation: directory.orientation == 1 ? upright : directory.orientation)
      }
    }
  }

  /// Whether the file at the path is RAW.
  func areOfRAW(path: String) -> Bool { isCertain || RawPhoto(path: path) != nil }
}
