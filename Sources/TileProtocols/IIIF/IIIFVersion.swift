/// A supported version of the IIIF Image API.
package enum IIIFVersion: String, CaseIterable, Sendable {
  case two = "2"
  case three = "3"

  var context: String { "http://iiif.io/api/image/\(rawValue)/context.json" }
  /// The compliance level's URL, as the Link header contains it: http, not https.
  package var profile: String { "http://iiif.io/api/image/\(rawValue)/level2.json" }
}
