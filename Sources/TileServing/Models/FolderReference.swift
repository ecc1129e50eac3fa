import ZigguratFiles

/// A folder as clients name it in collections: a repository, and a folder in it or the whole repository.
struct FolderReference: Hashable {
  let repository: ImageReference.Repository
  /// The id within the repository; nil for the whole repository.
  let id: ImageID?

  static let library = FolderReference(nil, in: .library)
  static let space = FolderReference(nil, in: .space)

  /// The name of the whole space in URLs: the mark of its ids without the slash.
  private static let spaceName = "~"

  init(_ id: ImageID?, in repository: ImageReference.Repository) {
    self.id = id
    self.repository = repository
  }

  /// The folder that contains an image, a book or another folder.
  init(of reference: ImageReference) { self.init(reference.id.folder, in: reference.repository) }

  /// Parses the name of a folder of the library, of the whole space or of a folder of the space; nil for other texts.
  init?(_ text: String) {
    if text == Self.spaceName {
      self = .space
    } else {
      guard let reference = ImageReference(text) else { return nil }
      self.init(reference.id, in: reference.repository)
    }
  }

  /// The name in URLs; nil for the whole library.
  var text: String? {
    guard let id else { return repository == .space ? Self.spaceName : nil }
    return ImageReference(id, in: repository).text
  }

  /// The folder that contains this one; nil for the whole library.
  var parent: FolderReference? {
    if let id { return FolderReference(id.folder, in: repository) }
    return repository == .space ? .library : nil
  }
}
