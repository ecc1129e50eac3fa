extension String {
  /// The untrusted text of a sandboxed process as one line for a person: at most 1,000 characters, and never empty.
  package var sanitizedLine: String {
    let scalars = unicodeScalars.prefix(4000).map { scalar -> Unicode.Scalar in
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: " "
      default: scalar
      }
    }
    let text = String(String(String.UnicodeScalarView(scalars)).prefix(1000))
    return text.allSatisfy(\.isWhitespace) ? "the decoder gave no reason" : text
  }
}
