import Foundation

/// Text that programs write where people look for a caption: what a scanner, a microscope or a camera says there tells
/// readers nothing, and may name who sat at it.
package enum MachineText {
  /// Whether it looks like it: a list of settings, a document, or what cameras put there unasked.
  package static func isSuspected(_ text: String) -> Bool {
    let text = text.trimmingCharacters(in: .whitespacesAndNewlines)
    return isFiller(text) || isDocument(text) || isListOfSettings(text)
  }

  /// What makers of cameras and programs fill in, in lower case.
  private static let fillers: Set<String> = [
    "olympus digital camera", "sony dsc", "konica minolta digital camera", "minolta digital camera",
    "minolta dsc", "kodak digital still camera", "samsung digital camera", "samsung camera pictures",
    "samsung", "medion digital camera", "casio digital camera", "digital camera", "digital image",
    "exif_jpeg_picture", "exif jpeg", "exif_jpeg", "dcf 1.0", "jpeg", "default", "created with gimp",
    "created with the gimp", "user comments", "screenshot", "ascii", "hisilicon k3",
    "cof", "dav", "edf", "hdr", "hdrpl", "mde", "nor", "oznor", "oznorw", "ptr", "rbt", "sdr",
  ]

  private static func isFiller(_ text: String) -> Bool {
    fillers.contains(text.lowercased())
      || text.wholeMatch(of: #/<(Digimax|KENOX|Samsung)[^>]*>|oplus_\d+|vivo_\w+/#.ignoresCase()) != nil
  }

  /// XML and JSON. HTML is what people write, too.
  private static func isDocument(_ text: String) -> Bool {
    if text.hasPrefix("<"), text.hasSuffix(">") {
      if text.hasPrefix("<?") { return true }
      guard let root = text.prefixMatch(of: #/<([A-Za-z_][\w.:\-]*)/#)?.output.1 else { return false }
      return !htmlElements.contains(root.lowercased())
    }
    guard text.hasPrefix("{") || text.hasPrefix("[{") else { return false }
    return text.hasPrefix("{\"") || (try? JSONSerialization.jsonObject(with: Data(text.utf8))) != nil
  }

  private static let htmlElements: Set<String> = [
    "a", "abbr", "address", "article", "b", "bdi", "bdo", "blockquote", "body", "br", "center", "cite",
    "code", "dd", "del", "details", "div", "dl", "dt", "em", "figure", "figcaption", "font", "h1", "h2",
    "h3", "h4", "h5", "h6", "head", "hr", "html", "i", "iframe", "img", "ins", "kbd", "li", "mark", "meta",
    "ol", "p", "pre", "q", "s", "script", "section", "small", "span", "strong", "style", "sub", "sup", "svg",
    "table", "title", "tt", "u", "ul",
  ]

  /// Aperio's `|key = value`; ImageJ's, tifffile's and ScanImage's `key=value`, a line each; Trestle's, all in one.
  private static func isListOfSettings(_ text: String) -> Bool {
    if text.prefixMatch(of: #/Aperio (Image|Leica|Digital)|ImageJ=|shape=\(|SCANIMAGE|SI\.VERSION/#) != nil {
      return true
    }
    if text.split(separator: "|").dropFirst().count(where: isSetting) >= 2 { return true }
    for (separator, fewest) in [("\n", 2), (";", 3)] as [(Character, Int)] {
      let parts = text.split { $0 == separator || separator == "\n" && $0.isNewline }
        .filter { !$0.allSatisfy(\.isWhitespace) }
      if parts.count >= fewest, parts.allSatisfy(isSetting) { return true }
    }
    return false
  }

  private static func isSetting(_ part: Substring) -> Bool {
    part.prefixMatch(of: #/\s*[\w.\[\]()\/# \-]{1,80}=/#) != nil
  }
}
