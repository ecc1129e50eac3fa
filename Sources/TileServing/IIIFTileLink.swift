/// The Link header of a stored tile that was asked for through IIIF: the canonical URL of its picture, and
/// the profile (IIIF Image API 3.0, sections 4.7 and 6; 2.1, sections 4.7 and 6). Made without a string.
public struct IIIFTileLink {
  /// The path as it was sent up to its size: `/iiif/{2|3}/{id}/{x},{y},{w},{h}/`. Alive as long as the request.
  let head: UnsafeRawBufferPointer
  /// Of the picture; nil where it is not shrunk.
  let width: Int?
  /// Nil where it follows from the width.
  let height: Int?
  let fileExtension: UnsafeRawBufferPointer

  private var isThree: Bool { head[6] == UInt8(ascii: "3") }

  /// More than the header can take beyond the base, in bytes.
  public var room: Int { head.count + fileExtension.count + 160 }

  /// Writes the header's value, ended by NUL.
  /// - Parameters:
  ///   - base: in two parts, one behind the other.
  ///   - buffer: of `room` bytes and those of the base.
  public func write(
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
    put(head)
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
