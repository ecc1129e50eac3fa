/// The name of an image or a book for clients: its repository, and its id there.
///
/// In URLs, JSON and files it is a text: the id alone for the library, and the id behind `~/` for a private space. So
/// no URL of the library ever names a private image. The library has no folder `~` for the same reason, see
/// `ImageID.isHidden`.
package struct ImageReference: Hashable, Sendable {
  /// The repositories that a client can reach.
  package enum Repository: Sendable {
    /// The images that all clients see.
    case library
    /// The private space that is unlocked in the client's session.
    case space

    /// The text before an id, a folder or a cursor of the repository.
    package var mark: String {
      switch self {
      case .library: ""
      case .space: "\(ImageReference.privateMark)"
      }
    }
  }

  /// The text before the ids of a private space.
  package static let privateMark: StaticString = "~/"

  package let repository: Repository
  /// The id within the repository.
  package let id: ImageID

  package init(_ id: ImageID, in repository: Repository) {
    self.id = id
    self.repository = repository
  }

  /// Parses the text of a reference. The result is nil if the part behind the mark is not an id.
  package init?(_ text: String) {
    let (repository, rest) = Self.parts(of: text)
    guard let id = ImageID(rest) else { return nil }
    self.init(id, in: repository)
  }

  /// Returns the repository that the mark of a text names, and the text behind the mark, which need not be an id.
  package static func parts(of text: String) -> (repository: Repository, rest: String) {
    guard privateMark.withUTF8Buffer(text.utf8.starts) else { return (.library, text) }
    // The mark is ASCII, so the rest begins with a whole scalar.
    return (.space, String(text.unicodeScalars.dropFirst(privateMark.utf8CodeUnitCount)))
  }

  package var text: String { "\(repository.mark)\(id.text)" }

  package var isPrivate: Bool { repository == .space }

  /// The folder or book that contains the image; nil if the repository itself does.
  package var folder: ImageReference? { id.folder.map { ImageReference($0, in: repository) } }

  /// Returns the reference without so many bytes at the end of its id; nil if no id remains.
  package func dropping(_ count: Int) -> ImageReference? {
    id.dropping(count).map { ImageReference($0, in: repository) }
  }
}

extension ImageReference: CustomStringConvertible {
  package var description: String { text }
}

/// Encodes as a string.
extension ImageReference: Encodable {
  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
