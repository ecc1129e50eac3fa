import PyramidBuilding
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratPrivateSpaces
import ZigguratTileServing
import ZigguratUploading

/// The command `ziggurat space move`.
struct SpaceMove {
  private enum Target: String, CaseIterable {
    case space
    case library
    case otherSpace = "other-space"
  }

  private let arguments: Arguments
  private let library: String
  private let ids: [ImageID]
  private let target: Target

  init(_ arguments: Arguments, library: String, ids: [String]) throws(UsageError) {
    self.arguments = arguments
    self.library = library
    target =
      try arguments.value("to", expected: "space, library or other-space") { Target(rawValue: $0) } ?? .space
    guard !ids.isEmpty else { throw arguments.missing("image id", usage: "move DIR ID…") }
    var images: [ImageID] = []
    for text in ids {
      // Ids of a space are accepted with and without the mark that the page shows.
      let own = target == .space ? text : ImageReference.parts(of: text).rest
      guard let id = ImageID(own), !id.isHidden else {
        throw .invalid(own, for: "ID…", expected: "an image id")
      }
      images.append(id)
    }
    self.ids = images
  }

  func run() throws(ReportedFailure) -> ExitCode {
    let space = try SpaceUnlocker.open(library, passwordFile: arguments.string("password-file"))
    let other = target == .otherSpace ? try openOther() : nil
    let move = PictureMove(library: library)
    var (moved, errors): ([ImageID], [StorageError]) = ([], [])
    var hasBuilt = false
    var hasUploaded = false
    for id in ids {
      do throws(StorageError) {
        switch target {
        case .space:
          let record = FolderStore(library: library).buildRecord(ofID: id)
          try EmptyFolders.requireSealable(id, in: library)
          try move.seal(id, into: space)
          try EmptyFolders.removeAfterSealing(id, in: library)
          if let record {
            if record.isUploaded == true { hasUploaded = true } else { hasBuilt = true }
          }
        case .library: try move.unseal(id, of: space)
        case .otherSpace: try PictureMove.reseal(id, of: space, into: other!)
        }
        moved.append(id)
        Output.note("moved \(Output.oneLine(id.text))")
      } catch {
        errors.append(error)
        Output.error("cannot move \(Output.oneLine(id.text)): \(error.reason)")
      }
    }
    if hasBuilt {
      Output.note(
        "the library keeps no list of what was moved: the next build of a picture's source publishes it again; "
          + "keep such sources out of builds, or build them with --space")
    }
    if target != .otherSpace { update(moved, hasUploaded: hasUploaded) }
    return errors.isEmpty ? .success : errors.contains(where: \.isTemporary) ? .temporary : .someFailed
  }

  private func openOther() throws(ReportedFailure) -> PrivateSpace {
    try SpaceUnlocker.reporting { () throws(PasswordFailure) in
      let password = try PasswordPrompt(file: arguments.string("new-password-file"))
        .password("Password of the space to move to")
      do throws(SpaceError) { return try PrivateSpaces(library: library).open(password) } catch {
        throw .space(error)
      }
    }
  }

  /// Updates the catalog after the move, and removes all traces of moved images from its file.
  private func update(_ moved: [ImageID], hasUploaded: Bool) {
    CatalogUpdate.run(library)
    guard target == .space else { return }
    forgetUploads(of: moved, hasUploaded: hasUploaded)
    do throws(StorageError) { try Catalog(library: library).vacuum() } catch {
      Output.error("the catalog may still hold titles of what was moved: \(error.reason)")
    }
  }

  /// Removes pictures from the library's list of uploads. An upload that is identical to a built picture has its id.
  ///
  /// - Parameter hasUploaded: whether some of the pictures are certainly uploads.
  private func forgetUploads(of moved: [ImageID], hasUploaded: Bool) {
    guard Uploads.areThere(in: library) else { return }
    do throws(StorageError) {
      let uploads = try Uploads(library: library)
      for id in moved { uploads.forget(image: id) }
    } catch {
      // A running server keeps the list. Built pictures are seldom in it.
      guard hasUploaded else { return }
      Output.error(
        "the list of uploads keeps the names of the moved images for up to 7 days (\(error.reason)); "
          + "stop the server before you move uploaded images")
    }
  }
}
