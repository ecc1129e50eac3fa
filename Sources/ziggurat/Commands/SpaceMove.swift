import Catalog
import Files
import ImageLibrary
import PrivateSpaces
import TileServing
import TileStorage
import Uploading

/// `ziggurat space move`
struct SpaceMove {
  private enum Target: String, CaseIterable {
    case space
    case library
    case otherSpace = "other-space"
  }

  private let arguments: Arguments
  private let library: String
  private let ids: [String]
  private let target: Target

  init(_ arguments: Arguments, library: String, ids: [String]) throws(UsageError) {
    (self.arguments, self.library) = (arguments, library)
    let name = arguments.string("to") ?? "space"
    guard let target = Target(rawValue: name) else {
      throw UsageError("\(arguments.spelled("to")) is '\(name)'; it takes space, library or other-space")
    }
    self.target = target
    guard !ids.isEmpty else {
      throw UsageError("the pictures' ids are missing: ziggurat space move DIR ID…")
    }
    // As the page has them, or as the space does.
    self.ids = target == .space ? ids : ids.map { $0.hasPrefix("~/") ? String($0.dropFirst(2)) : $0 }
    for id in self.ids {
      let parts = id.split(separator: "/", omittingEmptySubsequences: false)
      guard parts.allSatisfy({ !$0.isEmpty && !$0.hasPrefix(".") && !$0.utf8.contains(0) }) else {
        throw UsageError("'\(id)' is no picture's id")
      }
    }
  }

  func run() throws(SpaceDoor.Told) -> ExitCode {
    let space = try SpaceDoor.open(library, arguments)
    let other = target == .otherSpace ? try openOther() : nil
    let move = PictureMove(library: library)
    var (moved, failed): ([String], Int) = ([], 0)
    for id in ids {
      do throws(StorageError) {
        switch target {
        case .space: try move.seal(id, into: space)
        case .library: try move.unseal(id, of: space)
        case .otherSpace: try PictureMove.reseal(id, of: space, into: other!)
        }
        moved.append(id)
        Output.note("moved \(Output.oneLine(id))")
      } catch {
        failed += 1
        Output.error("\(Output.oneLine(id)): \(error.reason)")
      }
    }
    if target != .otherSpace { update(moved) }
    return failed == 0 ? .success : .someFailed
  }

  private func openOther() throws(SpaceDoor.Told) -> PrivateSpace {
    try SpaceDoor.telling { () throws(PasswordFailure) in
      let password = try PasswordPrompt(file: arguments.string("new-password-file"))
        .password("Password of the space to move to")
      do throws(SpaceError) { return try PrivateSpaces(library: library).open(password) } catch {
        throw .space(error)
      }
    }
  }

  /// The catalog lists what is in the library now, and its file holds nothing of what was.
  private func update(_ moved: [String]) {
    CatalogUpdate.run(library)
    guard target == .space else { return }
    forgetUploads(moved)
    do throws(StorageError) { try Catalog(library: library).scrub() } catch {
      Output.error("the catalog may still hold titles of what was moved: \(error.reason)")
    }
  }

  /// A library remembers for some time which uploads became which pictures.
  private func forgetUploads(_ moved: [String]) {
    guard Uploads.areThere(in: library) else { return }
    do throws(StorageError) {
      let uploads = try Uploads(library: library)
      for id in moved { uploads.forget(image: id) }
    } catch {
      Output.error("what was uploaded keeps its name in the library for some time: \(error.reason)")
    }
  }
}
