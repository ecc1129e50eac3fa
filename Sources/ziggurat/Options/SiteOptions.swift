import Files
import Foundation
import TileServing

/// Whose server it is, as its pages, manifests and collections say.
enum SiteOptions {
  static let options = [
    Option("site-name", "NAME", help: "title of the pages and of the whole library's IIIF collection"),
    Option(
      "provider", "FILE|'NAME <URL>'",
      help: "who provides the images, for IIIF: a name and its page, or an Agent's JSON"),
  ]

  static func read(_ arguments: Arguments) throws(UsageError) -> SiteIdentity {
    let name = arguments.string("site-name")
    guard let identity = SiteIdentity(name: name, provider: try provider(arguments)) else {
      throw UsageError(
        "\(arguments.spelled("site-name")) is '\(Output.oneLine(name ?? ""))'; it takes a line of at most 200 bytes"
      )
    }
    return identity
  }

  private static func provider(_ arguments: Arguments) throws(UsageError) -> Provider? {
    guard let text = arguments.string("provider") else { return nil }
    if let provider = Provider(line: text) { return provider }
    let spelled = "\(arguments.spelled("provider")) is '\(Output.oneLine(text))'"
    // Of a file that ends nowhere no more than shows that it is none.
    guard let file = try? FileHandle(forReadingAtPath: text)?.read(upToCount: 65_537) else {
      throw UsageError("\(spelled); it takes 'NAME <https://…>', or a file with an IIIF Agent in JSON")
    }
    do throws(Provider.Refusal) { return try Provider(json: Array(file)) } catch {
      throw UsageError("\(spelled): \(error.description)")
    }
  }
}
