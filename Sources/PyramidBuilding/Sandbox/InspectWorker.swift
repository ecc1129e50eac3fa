import Foundation
import Glibc
import TileGeometry
import TileStorage
import ZigguratImaging
package import ZigguratSandbox

/// A sandboxed process that inspects one source.
package enum InspectWorker {
  package static let kind = ProcessLauncher.Kind(rawValue: 3)

  private static let look: UInt32 = 1
  private static let seen: UInt32 = 2

  /// Returns the main function of such a process. The options are the whole program's.
  package static func work(_ options: BuildOptions) -> WorkerMain {
    { session in
      let message = session.next()
      let parts = message.bytes.split(separator: 0, maxSplits: 1)
      let asked = String(decoding: parts.first ?? [], as: UTF8.self)
      PDFPassword.use(parts.count == 2 ? String(decoding: parts[1], as: UTF8.self) : nil)
      let path = message.files.first.map { "/proc/self/fd/\($0)" } ?? asked
      var answer = Answer()
      do throws(BuildError) {
        answer.inspection = try SourceInspection(reading: path, options: options)
      } catch {
        answer.failure = FailureMessage(error, path: path, name: asked)
      }
      session.send(seen, BuildMessage.encode(answer))
    }
  }

  private struct Answer: Codable {
    var inspection: SourceInspection?
    var failure: FailureMessage?
  }

  /// Inspects a source in a sandboxed process; see `SourceInspection`.
  static func inspect(
    _ file: SourceFile, _ server: ProcessLauncher, memory: Int, seconds: Int, pdfPassword: String?
  ) throws(BuildError) -> SourceInspection {
    let path = file.path
    let answer: Answer
    do throws(TerminationReason) {
      answer = try ask(file, server, memory: memory, seconds: seconds, pdfPassword)
    } catch {
      server.count(error)
      throw BuildError(path, error)
    }
    if let failure = answer.failure { throw failure.error(about: path) }
    guard let inspection = answer.inspection, inspection.isPossible else {
      throw BuildError(path, TerminationReason.garbled.description)
    }
    return inspection
  }

  private static func ask(
    _ file: SourceFile, _ server: ProcessLauncher, memory: Int, seconds: Int, _ pdfPassword: String?
  ) throws(TerminationReason) -> Answer {
    let (needs, path) = (SourceNeeds(file), file.path)
    let nameless = SourceNeeds.openNameless(path).map { [$0] } ?? []
    let files = needs.openFiles()
    defer { for file in files + nameless { close(file) } }
    let limits = SandboxLimits(memory: memory, maxMemory: memory, processorSeconds: seconds)
    let process = try server.begin(kind, limits, reading: files, preload: needs.preload)
    defer { process.end() }
    let timeout = SandboxedProcess.Timeout(seconds: seconds)
    // The path, a NUL and the password, which is sent only to a sandboxed process that reads a PDF.
    let password: [UInt8] = needs.isPDF ? pdfPassword.map { [0] + Array($0.utf8) } ?? [] : []
    try process.send(look, Array(path.utf8) + password, files: nameless, within: timeout)
    let answer = try process.receive(longest: { _ in BuildMessage.maxMessageSize }, within: timeout)
    return try BuildMessage.decode(Answer.self, answer)
  }
}
