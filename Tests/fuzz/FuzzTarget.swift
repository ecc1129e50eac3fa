import Glibc

/// A parser of untrusted bytes that takes the inputs.
///
/// A result and an error are equally good: each input must end in one of the two.
enum FuzzTarget: String, CaseIterable {
  /// The native readers of source pictures, to the last pixel, by each way that the file allows.
  case jpeg, png, tiff
  /// The end of a picture and the data behind it, for every format that has one; run lengths; a PSD's composite.
  case end
  /// A camera's RAW file, developed and as its preview.
  case raw
  /// A DICOM file that is no slide, its first frame rendered with each kind of window.
  case dicom
  /// A PDF's own fields, the boxes and units of its first page, and the content of that page.
  case pdf
  /// EXIF, IPTC and XMP inside a picture.
  case metadata
  /// The OME-XML in a TIFF's description.
  case ome
  /// An XMP file beside an archive, read and edited.
  case sidecar
  /// The description of a book, `book.json`.
  case book
  /// An archive, opened and read to the last tile.
  case archive
  /// `build.json` and `metadata.json` of an archive.
  case record
  /// The `.dzi` of a Deep Zoom image, and `scan-properties.xml`.
  case descriptor
  /// An ICC profile.
  case profile
  /// A stored tile, decoded as for a render.
  case tile
  /// Replies of a sandboxed process, and requests to it.
  case sandbox
  /// A request's path and query.
  case request
  /// Responses of an object store: lists, headers.
  case list
  /// A segment of a library's index in a store, and the marks of the garbage collector.
  case directory

  /// The target that `ZIGGURAT_FUZZ` names.
  static let chosen: FuzzTarget = {
    let name = getenv("ZIGGURAT_FUZZ").map { String(cString: $0) } ?? ""
    guard let target = FuzzTarget(rawValue: name) else {
      fatalError("ZIGGURAT_FUZZ is one of \(allCases.map(\.rawValue).joined(separator: ", ")), not '\(name)'")
    }
    return target
  }()

  func take(_ input: FuzzInput) {
    switch self {
    case .jpeg, .png, .tiff: input.readPicture(self)
    case .end: input.findEnd()
    case .raw: input.readRAW()
    case .dicom: input.readDICOM()
    case .pdf: input.readPDF()
    case .metadata: input.readMetadata()
    case .ome: input.readOME()
    case .sidecar: input.readSidecar()
    case .book: input.readBook()
    case .archive: input.readArchive()
    case .record: input.readRecords()
    case .descriptor: input.readDescriptors()
    case .profile: input.readProfile()
    case .tile: input.decodeTile()
    case .sandbox: input.receive()
    case .request: input.readRequest()
    case .list: input.readListAnswer()
    case .directory: input.readDirectory()
    }
  }
}

/// One input of libFuzzer.
struct FuzzInput {
  let bytes: [UInt8]

  /// The path of a file that holds the input until the next one.
  var path: String { MemoryFile.shared.filled(with: bytes) }
}

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ data: UnsafePointer<UInt8>?, _ size: Int) -> CInt {
  FuzzTarget.chosen.take(FuzzInput(bytes: Array(UnsafeBufferPointer(start: data, count: size))))
  return 0
}

// The package manager renames `main`, so libFuzzer's own is not linked. This does the same.
@_silgen_name("LLVMFuzzerRunDriver")
private func runLibFuzzer(
  _ count: UnsafeMutablePointer<CInt>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ callback: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

@main
struct ReaderFuzz {
  static func main() {
    _ = FuzzTarget.chosen
    var count = CommandLine.argc
    var arguments = CommandLine.unsafeArgv
    exit(runLibFuzzer(&count, &arguments, fuzz))
  }
}
