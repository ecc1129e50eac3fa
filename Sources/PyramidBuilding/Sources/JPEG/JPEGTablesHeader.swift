/// The bytes in front of the JPEG data of a TIFF's tile or strip, so that they stand by themselves: an SOI, a marker
/// that says which colours the components are, and the tables that all share (TIFF Technical Note 2).
enum JPEGTablesHeader {
  enum Colours {
    /// Gray, or Y'CbCr.
    case ycbcr
    /// Gray, or red, green and blue, whatever the numbers of the components.
    case stored
    /// As a marker of the data says, if there is one.
    case cmyk
  }

  // A JFIF header, without which three components are YCbCr by custom only: version 1.1, no density.
  private static let jfif: [UInt8] = [
    0xff, 0xe0, 0, 16, 0x4a, 0x46, 0x49, 0x46, 0, 1, 1, 0, 0, 1, 0, 1, 0, 0,
  ]
  // Adobe's marker: no transform.
  private static let adobe: [UInt8] = [
    0xff, 0xee, 0, 14, 0x41, 0x64, 0x6f, 0x62, 0x65, 0, 100, 0, 0, 0, 0, 0,
  ]

  static func bytes(tables: [UInt8], _ colours: Colours) -> [UInt8] {
    let areFramed = tables.count > 4 && tables[..<2] == [0xff, 0xd8] && tables.suffix(2) == [0xff, 0xd9]
    let marker: [UInt8] =
      switch colours {
      case .ycbcr: jfif
      case .stored: adobe
      case .cmyk: []
      }
    return [0xff, 0xd8] + marker + (areFramed ? tables[2..<(tables.count - 2)] : [])
  }
}
