extension String {
  /// Creates a string from an array of characters in a structure of C, up to the first NUL.
  package init<Characters>(characters: Characters) {
    self = withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
  }

  /// Creates a string from a buffer that a function of C has filled, up to the first NUL.
  package init(buffer: [CChar]) {
    self.init(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}
