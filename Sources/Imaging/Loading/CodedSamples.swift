/// The samples of a picture that another file contains, as a tile of a TIFF: as they are stored, in no colour space.
package struct CodedSamples {
  package let width, height: Int
  /// Samples of a pixel.
  package let bands: Int
  /// Bits that a sample has; it takes as many whole bytes as they need, or four if it is a float.
  package let bits: Int
  package let isFloat: Bool
  /// Rows of pixels without gaps, in the machine's byte order.
  package internal(set) var bytes: [UInt8]

  package var bytesPerSample: Int { isFloat ? 4 : bits > 16 ? 4 : bits > 8 ? 2 : 1 }
}
