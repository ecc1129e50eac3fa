/// A version of the IIIF Image API that is spoken here.
package enum IIIFVersion: String, CaseIterable, Sendable {
  case two = "2"
  case three = "3"

  var context: String { "http://iiif.io/api/image/\(rawValue)/context.json" }
  /// Of compliance, as the Link header names it: http, not https.
  package var profile: String { "http://iiif.io/api/image/\(rawValue)/level2.json" }
}
