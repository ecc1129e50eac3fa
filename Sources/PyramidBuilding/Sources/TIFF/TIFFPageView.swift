import ZigguratCTIFF
import ZigguratImaging

/// A TIFF file in which one page is the only one.
///
/// Whenever libvips opens a page it reads every directory of the file, and libtiff those before the page: the pages of
/// a file would together take time that grows with the square of their number.
final class TIFFPageView: ByteSupply {
  let byteCount: Int
  private let file: SourceFile
  /// The descriptor of the file, open as long as the view lives.
  var descriptor: Int32 { file.handle.descriptor }
  /// Bytes that are read in place of the file's own.
  private let changes: [(offset: Int, bytes: [UInt8])]

  /// `nil` if the page's directory is not found, as behind a damaged one.
  ///
  /// - Parameter page: counted from 0.
  init?(path: String, page: Int) {
    guard let (file, directories) = TIFFDirectories.remembered(path: path),
      let changes = directories.changes(forOnly: page)
    else { return nil }
    self.file = file
    self.changes = changes
    byteCount = file.identity.size
  }

  func read(into bytes: UnsafeMutableRawBufferPointer, at offset: Int) -> Int {
    let done = file.handle.read(into: bytes, at: offset)
    guard done >= 0 else { return -1 }
    let range = offset..<offset + done
    for change in changes {
      let part = range.clamped(to: change.offset..<change.offset + change.bytes.count)
      for place in part { bytes[place - offset] = change.bytes[place - change.offset] }
    }
    return done
  }

  /// Opens the page by libtiff; nil if that refuses it.
  func open(_ name: String, _ mode: String, _ options: OpaquePointer) -> OpaquePointer? {
    let cursor = Unmanaged.passRetained(ByteCursor(self))
    let opened = TIFFClientOpenExt(
      name, mode, cursor.toOpaque(),
      { handle, base, count in
        guard let base else { return -1 }
        return tmsize_t(
          Unmanaged<ByteCursor>.fromOpaque(handle!).takeUnretainedValue().read(base, Int(count)))
      },
      { _, _, _ in -1 },
      { handle, offset, whence in
        let cursor = Unmanaged<ByteCursor>.fromOpaque(handle!).takeUnretainedValue()
        return UInt64(bitPattern: Int64(cursor.seek(Int(bitPattern: UInt(offset)), whence)))
      },
      { handle in
        Unmanaged<ByteCursor>.fromOpaque(handle!).release()
        return 0
      },
      { handle in
        UInt64(Unmanaged<ByteCursor>.fromOpaque(handle!).takeUnretainedValue().supply.byteCount)
      }, nil, nil, options)
    // libtiff closes only files that it has opened.
    if opened == nil { cursor.release() }
    return opened
  }
}
