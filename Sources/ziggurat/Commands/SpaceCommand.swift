import Foundation
import TileStorage
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratMetadata
import ZigguratPrivateSpaces
import ZigguratText

enum SpaceCommand: Command {
  /// The action, which is the first operand.
  private enum Verb: String, CaseIterable {
    case create, passwd, rekey, list, move, lock
  }

  static let name = "space"
  static let usage = "create|passwd|rekey|list|move|lock DIR [ID…]"
  static let summary = "Make a private space, change its password or key, list it, move images, lock all."
  static let options = [
    PasswordPrompt.option,
    Option(
      "new-password-file", "FILE",
      help: "File whose first line is the new password (passwd) or the other space's (move); - is stdin"),
    Option("to", "PLACE", default: "space", help: "Target of move: space, library or other-space"),
    Option("yes", help: "Change the key without confirmation (rekey)"),
    Option("json", help: "Write one JSON object per image and line (list)"),
  ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    guard let word = arguments.operands.first else {
      throw arguments.missing("action")
    }
    guard let verb = Verb(rawValue: word) else {
      throw .unknown(
        "action", word, near: nearest(word, Verb.allCases.map(\.rawValue)), help: "ziggurat help space")
    }
    if let code = ProgramWorkers.start() { return code }
    guard arguments.operands.count > 1 else {
      throw arguments.missing("library folder", usage: "\(word) DIR")
    }
    guard arguments.operands.count == 2 || verb == .move else {
      throw .spareOperand(arguments.operands[2], after: "library folder")
    }
    let library = arguments.operands[1]
    let asJSON = try arguments.flag("json")
    do {
      switch verb {
      case .create: try create(library, arguments)
      case .passwd: try changePassword(library, arguments)
      case .rekey: return try SpaceRekeying(arguments, library: library).run()
      case .lock: try lock(library)
      case .move:
        return try SpaceMove(arguments, library: library, ids: Array(arguments.operands.dropFirst(2))).run()
      case .list: return try list(library, arguments, asJSON: asJSON)
      }
      return .success
    } catch let failure as ReportedFailure {
      return failure.exitCode
    } catch let usage as UsageError {
      throw usage
    } catch { preconditionFailure("nothing else is thrown") }
  }

  private static func create(_ library: String, _ arguments: Arguments) throws(ReportedFailure) {
    let spaces = PrivateSpaces(library: library)
    try SpaceUnlocker.reporting { () throws(PasswordFailure) in
      let password = try PasswordPrompt(file: arguments.string("password-file"))
        .password("Password of the new space", isNew: true)
      warn(password)
      do throws(SpaceError) { try spaces.create(password) } catch { throw .space(error) }
    }
    Output.note(
      "private space made; it cannot be opened without its password, and a lost password cannot be restored")
  }

  private static func changePassword(_ library: String, _ arguments: Arguments) throws(ReportedFailure) {
    let spaces = PrivateSpaces(library: library)
    try SpaceUnlocker.reporting { () throws(PasswordFailure) in
      let file = arguments.string("password-file")
      let old = try PasswordPrompt(file: file).password("Password")
      let new = try PasswordPrompt(file: arguments.string("new-password-file"))
        .password("New password", isNew: true)
      warn(new)
      do throws(SpaceError) { try spaces.changePassword(old, to: new) } catch { throw .space(error) }
    }
    Output.note("changed; copies of the old keyring still open with the old password")
  }

  private static func lock(_ library: String) throws(ReportedFailure) {
    try SpaceUnlocker.reporting { () throws(PasswordFailure) in
      do throws(SpaceError) { try PrivateSpaces(library: library).lock() } catch { throw .space(error) }
    }
    Output.note("locked; servers of this library remove all keys from memory within a few seconds")
  }

  private static func warn(_ password: Password) {
    guard password.isShort else { return }
    Output.note("the password is short; anyone who has the files can try any number of passwords")
  }

  private static func list(
    _ library: String, _ arguments: Arguments, asJSON: Bool
  ) throws(ReportedFailure) -> ExitCode {
    let space = try SpaceUnlocker.open(library, passwordFile: arguments.string("password-file"))
    var isWhole = true
    do throws(StorageError) {
      for id in try space.ids() {
        do {
          guard let archive = try space.archive(ofID: id) else { continue }
          let metadata = try space.sidecar(ofID: id).flatMap { try Sidecar($0, isPrivate: true) }
          show(id, archive, metadata?.applied(to: archive.metadata) ?? archive.metadata, asJSON: asJSON)
        } catch {
          isWhole = false
          Output.error("\(id): \(error)")
        }
      }
    } catch {
      Output.error(error.description)
      return .someFailed
    }
    return isWhole ? .success : .someFailed
  }

  private static func show(_ id: ImageID, _ archive: SealedArchive, _ metadata: ImageMetadata, asJSON: Bool) {
    let (size, title) = (archive.pyramid.imageSize, metadata.title)
    if asJSON {
      var object: JSONValue = [
        "id": .text(id.text), "width": .integer(size.width), "height": .integer(size.height),
        "bytes": .integer(archive.byteCount), "format": .text(archive.format.fileExtension),
        "tiles": .integer(archive.pyramid.tileCount),
      ]
      object["title"] = title.map { .text($0) }
      Output.json(object)
    } else {
      let bytes = Output.size(ofBytes: archive.byteCount)
      Output.result(
        Output.oneLine(
          "\(id)  \(size.width) × \(size.height), \(bytes)" + (title.map { ", \($0)" } ?? ""))
          + "\n")
    }
  }
}
