/// Text that clients show as HTML, and that is anybody's.
package enum HTMLText {
  package static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// The same between quotation marks.
  package static func attribute(_ text: String) -> String {
    escaped(text).replacing("\"", with: "&quot;")
  }
}
