import HTTPMessages

/// The Link header of a stored tile that was asked for through IIIF: the canonical URL of its picture, and
/// the profile (IIIF Image API 3.0, sections 4.7 and 6; 2.1, sections 4.7 and 6). Made without a string.
package struct IIIFTileLink {
  let isThree: Bool
  /// As it was sent, percent-encoded. Alive as long as the request.
  let id: UnsafeRawBufferPointer
  /// In image space, inside the image; nil for the whole of it.
  let region: (x: Int, y: Int, width: Int, height: Int)?
  /// Of the picture; nil where it is not shrunk.
  let width: Int?
  /// Nil where it follows from the width.
  let height: Int?
  let fileExtension: UnsafeRawBufferPointer

  /// More than the header can take beyond the base, in bytes.
  package var room: Int { 3 * id.count + fileExtension.count + 240 }

  /// Writes the header's value, ended by NUL.
  /// - Parameters:
  ///   - base: in two parts, one behind the other.
  ///   - buffer: of `room` bytes and those of the base.
  package func write(
    base: (UnsafeRawBufferPointer, UnsafeRawBufferPointer), into buffer: UnsafeMutableRawBufferPointer
  ) {
    var at = 0
    func put(_ bytes: UnsafeRawBufferPointer) {
      UnsafeMutableRawBufferPointer(rebasing: buffer[at...]).copyMemory(from: bytes)
      at += bytes.count
    }
    func put(_ text: StaticString) {
      put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }
    func put(_ number: Int) {
      var unit = 1
      while number / unit > 9 { unit *= 10 }
      while unit > 0 {
        buffer[at] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: number / unit % 10)
        at += 1
        unit /= 10
      }
    }
    put("<")
    put(base.0)
    put(base.1)
    if isThree { put("/iiif/3/") } else { put("/iiif/2/") }
    // However it was sent, the canonical URL has one spelling of it: as `PercentEncoding.encode` has it.
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
        buffer[at] = byte
        at += 1
      } else {
        let digits: StaticString = "0123456789ABCDEF"
        buffer[at] = UInt8(ascii: "%")
        buffer[at + 1] = digits.utf8Start[Int(byte >> 4)]
        buffer[at + 2] = digits.utf8Start[Int(byte & 15)]
        at += 3
      }
    }
    put("/")
    if let region {
      put(region.x)
      put(",")
      put(region.y)
      put(",")
      put(region.width)
      put(",")
      put(region.height)
    } else {
      put("full")
    }
    put("/")
    if let width {
      put(width)
      put(",")
      if let height { put(height) }
    } else if isThree {
      put("max")
    } else {
      put("full")
    }
    put("/0/default.")
    put(fileExtension)
    if isThree {
      put(">;rel=\"canonical\",<http://iiif.io/api/image/3/level2.json>;rel=\"profile\"")
    } else {
      put(">;rel=\"canonical\",<http://iiif.io/api/image/2/level2.json>;rel=\"profile\"")
    }
    buffer[at] = 0
  }
}
