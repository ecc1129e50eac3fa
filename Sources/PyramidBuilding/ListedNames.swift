extension [String] {
  /// Returns the first names with commas between them, and how many more there are.
  func listed(atMost most: Int) -> String {
    prefix(most).joined(separator: ", ") + (count > most ? " and \(count - most) more" : "")
  }
}
