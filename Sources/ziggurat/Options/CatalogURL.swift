import ZigguratCatalog

/// The URL of a shared catalog. It is encoded without its password.
struct CatalogURL: Codable, Equatable, Sendable {
  let text: String

  init(_ text: String) { self.text = text }

  /// Throws an error if the text is not a URL of PostgreSQL.
  func check() throws(UsageError) {
    guard Catalog.isPostgreSQL(text) else {
      // The value is not shown: it may contain a password.
      throw .requires("--catalog", "a URL of the form postgresql://USER@HOST/DATABASE")
    }
  }

  init(from decoder: any Decoder) throws {
    text = try decoder.singleValueContainer().decode(String.self)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(AddressSecrets.redacted(text))
  }
}
