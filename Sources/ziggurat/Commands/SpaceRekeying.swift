import Foundation
import TileStorage
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratPrivateSpaces

/// The command `ziggurat space rekey`.
struct SpaceRekeying {
  private let arguments: Arguments
  private let library: String
  private let isCertain: Bool

  init(_ arguments: Arguments, library: String) throws(UsageError) {
    self.arguments = arguments
    self.library = library
    isCertain = try arguments.flag("yes")
    // Checked before the password prompt.
    guard isCertain || isatty(STDIN_FILENO) == 1 else {
      throw .requires("space rekey", "--yes without a terminal")
    }
  }

  func run() throws(ReportedFailure) -> ExitCode {
    let spaces = PrivateSpaces(library: library)
    return try SpaceUnlocker.reporting { () throws(PasswordFailure) in
      let password = try PasswordPrompt(file: arguments.string("password-file")).password("Password")
      do throws(SpaceError) {
        let rekey = try spaces.rekey(password)
        if rekey.wasFinished {
          Output.note(
            "finished: the space has had its new key since the call before, and the old files are gone")
          return .success
        }
        do throws(StorageError) { return try run(rekey, spaces) } catch { throw SpaceError.storage(error) }
      } catch { throw .space(error) }
    }
  }

  private func run(_ rekey: SpaceRekey, _ spaces: PrivateSpaces) throws(StorageError) -> ExitCode {
    SignalHandler.listen()
    // A file that may not grow is a write error, like a full disk.
    signal(SIGXFSZ, SIG_IGN)
    let extent = try rekey.extent()
    Output.note(
      "encrypts \(Output.count(extent.pictures, "picture")) again, which takes \(Output.size(ofBytes: extent.byteCount)) of "
        + "disk space until it is done; \(Output.size(ofBytes: extent.freeByteCount)) are free")
    guard extent.byteCount <= extent.freeByteCount else {
      Output.error("nothing was changed: there is not enough space on the disk")
      return .temporary
    }
    guard isConfirmed() else {
      Output.note("nothing was changed")
      return SignalHandler.isAsked ? .interrupted : .someFailed
    }
    // An open space could otherwise be written, and the new files would have to be sealed again.
    do throws(SpaceError) { try spaces.lock() } catch {
      if case .storage(let error) = error { throw error }
    }
    var line = PercentLine()
    let outcome = try rekey.run(
      progress: { line.draw($0.done, of: $0.total) }, isStopped: { SignalHandler.isAsked })
    line.end()
    switch outcome {
    case .done:
      Output.note("changed; copies of the folder from before still open with the old key")
      return .success
    case .uncleared(let error):
      Output.note("changed; copies of the folder from before still open with the old key")
      Output.error(
        "some old files could not be removed: \(error); run the command again to remove them"
      )
      return .temporary
    case .stopped:
      Output.note("stopped; the space has its old key; run the command again to continue")
      return .interrupted
    case .defective(let defects):
      for defect in defects { Output.error(defect) }
      Output.error(
        "the space keeps its old key until these pictures are rebuilt or deleted; then run the command again"
      )
      return .someFailed
    }
  }

  private func isConfirmed() -> Bool {
    if isCertain { return true }
    Output.terminal("Backups and copies must be made again afterwards. Type yes to change the key: ")
    return SignalHandler.waitForInput(STDIN_FILENO) && readLine() == "yes"
  }
}

/// A progress line in percent on the terminal; nothing if stderr is not a terminal.
private struct PercentLine {
  private let isShown = isatty(STDERR_FILENO) == 1
  private var last = -1

  mutating func draw(_ done: Int, of total: Int) {
    let percent = total > 0 ? Int(Double(done) / Double(total) * 100) : 100
    guard isShown, percent != last else { return }
    last = percent
    Output.terminal("\r\u{1b}[K\(percent)%")
  }

  func end() { if isShown { Output.terminal("\r\u{1b}[K") } }
}
