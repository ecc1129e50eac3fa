import ZigguratCQREncode

/// Text as a QR code (ISO/IEC 18004) for a phone's camera.
enum QRCode {
  /// Returns an SVG picture in black and white, with the quiet zone of four modules. Returns `nil` if the text is
  /// too long for a code.
  static func svg(_ text: String) -> [UInt8]? {
    guard let code = QRcode_encodeString8bit(text, 0, QR_ECLEVEL_M) else { return nil }
    defer { QRcode_free(code) }
    let width = Int(code.pointee.width)
    let side = width + 8
    var path = ""
    for y in 0..<width {
      var x = 0
      while x < width {
        let start = x
        // The lowest bit is the module's color; the others are its function.
        while x < width, code.pointee.data[y * width + x] & 1 == 1 { x += 1 }
        if x > start { path += "M\(start + 4) \(y + 4)h\(x - start)v1H\(start + 4)z" }
        x = max(x, start) + (x == start ? 1 : 0)
      }
    }
    return Array(
      """
      <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 \(side) \(side)" shape-rendering="crispEdges">\
      <path fill="#fff" d="M0 0h\(side)v\(side)H0z"/><path d="\(path)"/></svg>
      """.utf8)
  }
}
