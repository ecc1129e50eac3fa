/// Camera RAW formats that are not plain TIFF, by their first bytes.
package enum RawFormat {
  static let starts: [(offset: Int, bytes: [UInt8], name: String)] = [
    (8, Array("CR".utf8) + [2, 0], "Canon CR2"), (4, Array("ftypcrx ".utf8), "Canon CR3"),
    (6, Array("HEAPCCDR".utf8), "Canon CRW"), (0, Array("FUJIFILMCCD-RAW".utf8), "Fujifilm RAF"),
    (0, Array("IIRO".utf8), "Olympus ORF"), (0, Array("IIRS".utf8), "Olympus ORF"),
    (0, Array("MMOR".utf8), "Olympus ORF"), (0, Array("IIU".utf8) + [0], "Panasonic RW2"),
    (0, Array("FOVb".utf8), "Sigma X3F"), (0, [0] + Array("MRM".utf8), "Minolta MRW"),
  ]

  /// The file name extensions of these formats, in lower case.
  static let endings = Set(starts.map { ending(ofFormat: $0.name) }).sorted()

  /// Returns the file name extension for a file with this start; nil as in `kind`.
  static func ending(_ start: some Collection<UInt8>) -> String? { kind(start).map(ending(ofFormat:)) }

  /// Returns the extension, with which the names of the formats end.
  private static func ending(ofFormat name: String) -> String {
    String(name.split(separator: " ").last ?? "").lowercased()
  }

  /// Returns the name of a file's format; nil for any other, including RAW files that begin like TIFF files.
  ///
  /// - Parameter start: the file's first `ImageFormat.signatureBytes` bytes.
  package static func kind(_ start: some Collection<UInt8>) -> String? {
    starts.first { start.dropFirst($0.offset).starts(with: $0.bytes) }?.name
  }
}
