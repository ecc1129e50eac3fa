/// Untrusted text that clients show as HTML.
package enum HTMLText {
  package static func escaped(_ text: String) -> String {
    text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
  }

  /// Returns the text escaped for an attribute value in double quotation marks.
  package static func attribute(_ text: String) -> String {
    escaped(text).replacing("\"", with: "&quot;")
  }
}
