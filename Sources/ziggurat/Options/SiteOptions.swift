import Foundation
import ZigguratFiles
import ZigguratTileServing

/// The identity of the site, for its pages, manifests and collections.
enum SiteOptions {
  static let options = [
    Option(
      "site-name", "NAME", isCommon: true, help: "Title of the pages and of the library's IIIF collection"),
    Option(
      "provider", "PROVIDER", help: "IIIF provider: 'NAME <URL>', or a file with an Agent in JSON"),
  ].grouped(.pages)

  static func read(_ arguments: Arguments) throws(UsageError) -> SiteIdentity {
    let name = arguments.string("site-name")
    guard let identity = SiteIdentity(name: name, provider: try provider(arguments)) else {
      throw .invalid(
        Output.oneLine(name ?? ""), for: arguments.spelled("site-name"),
        expected: "a line of at most 200 bytes")
    }
    return identity
  }

  private static func provider(_ arguments: Arguments) throws(UsageError) -> Provider? {
    guard let text = arguments.string("provider") else { return nil }
    if let provider = Provider(line: text) { return provider }
    // A device may have no end: one byte more than a provider may have is read.
    guard let file = try? FileHandle(forReadingAtPath: text)?.read(upToCount: 65_537) else {
      throw .invalid(
        Output.oneLine(text), for: arguments.spelled("provider"),
        expected: "'NAME <https://…>', or a file with an IIIF Agent in JSON")
    }
    do throws(Provider.Refusal) { return try Provider(json: Array(file)) } catch {
      throw .outside("\(arguments.spelled("provider")) \(Output.oneLine(text))", error.description)
    }
  }
}
