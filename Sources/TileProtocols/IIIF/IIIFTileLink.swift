import TileGeometry
import ZigguratHTTPMessages

/// The Link header of a picture that was requested through IIIF: its canonical URL, and the profile. It is written
/// without a string (IIIF Image API 3.0, sections 4.7 and 6; 2.1, sections 4.7 and 6).
package struct IIIFTileLink {
  private let version: IIIFVersion
  /// The id as the client sent it, percent-encoded. Valid as long as the request.
  private let id: UnsafeRawBufferPointer
  private let picture: Picture
  private let image: PixelSize
  private let limits: PictureLimits
  /// Whether a request with the width alone would return a tile of another height.
  private let statesHeight: Bool

  init(
    _ version: IIIFVersion, id: UnsafeRawBufferPointer, _ picture: Picture, of image: PixelSize,
    _ limits: PictureLimits, statesHeight: Bool = false
  ) {
    self.version = version
    self.id = id
    self.picture = picture
    self.image = image
    self.limits = limits
    self.statesHeight = statesHeight
  }

  /// An upper bound of the header's length without the base, in bytes.
  package var room: Int { 3 * id.count + URLWriter.maxNameLength + 128 }

  /// Writes the header's value, terminated by NUL.
  /// - Parameters:
  ///   - base: in two parts, one behind the other.
  ///   - buffer: at least `room` bytes and those of the base.
  package func write(
    base: (UnsafeRawBufferPointer, UnsafeRawBufferPointer), into buffer: UnsafeMutableRawBufferPointer
  ) {
    var text = URLWriter(buffer)
    text.put("<")
    text.put(base.0)
    text.put(base.1)
    text.put(version == .three ? "/iiif/3/" : "/iiif/2/")
    // The canonical URL has one encoding of the id, independent of the client's.
    text.put(encoding: id)
    text.put("/")
    picture.write(iiif: &text, of: image, version, limits, statesHeight: statesHeight)
    text.put(">;rel=\"canonical\",<http://iiif.io/api/image/")
    text.put(version == .three ? "3/level2.json>;rel=\"profile\"" : "2/level2.json>;rel=\"profile\"")
    text.put(0 as UInt8)
  }

  /// Returns the header's value.
  package func text(base: String) -> String {
    var base = base
    return base.withUTF8 { base in
      withUnsafeTemporaryAllocation(byteCount: room + base.count, alignment: 1) { buffer in
        write(
          base: (UnsafeRawBufferPointer(base), UnsafeRawBufferPointer(start: nil, count: 0)), into: buffer)
        return String(decoding: buffer.prefix { $0 != 0 }, as: UTF8.self)
      }
    }
  }
}

extension URLWriter {
  /// Writes an id as `PercentEncoding.encode` does, independent of the escapes that the client sent.
  fileprivate mutating func put(encoding id: UnsafeRawBufferPointer) {
    var from = 0
    while from < id.count {
      var byte = id[from]
      from += 1
      if byte == UInt8(ascii: "%"), from + 1 < id.count, let high = PercentEncoding.hexDigit(id[from]),
        let low = PercentEncoding.hexDigit(id[from + 1])
      {
        byte = high << 4 | low
        from += 2
      }
      if PercentEncoding.isUnreserved(byte) {
        put(byte)
      } else {
        let digits: StaticString = "0123456789ABCDEF"
        put("%")
        put(digits.utf8Start[Int(byte >> 4)])
        put(digits.utf8Start[Int(byte & 15)])
      }
    }
  }
}
