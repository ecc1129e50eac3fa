/// What `rights` takes of what people paste there: the addresses of known licences alone, which begin with http
/// (IIIF Image API 3.0, section 5.6; Presentation 3.0, section 3.2).
package struct RightsAddress {
  package let text: String

  package init?(_ rights: String) {
    let address = rights.hasPrefix("https:") ? "http:" + rights.dropFirst(6) : rights
    let isKnown = ["http://creativecommons.org/", "http://rightsstatements.org/"].contains(
      where: address.hasPrefix)
    guard isKnown, address.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else { return nil }
    text = address
  }
}
