package import Cells
import Foundation
import Glibc
import TileGeometry
import TileStorage

/// A cell that looks at one source and tells what it is.
package enum InspectCell {
  package static let kind = CellServer.Kind(rawValue: 3)

  private static let look: UInt32 = 1
  private static let seen: UInt32 = 2

  /// What such a cell does. The options are the whole program's.
  package static func work(_ options: BuildOptions) -> CellWork {
    { session in
      let message = session.next()
      let asked = String(decoding: message.bytes, as: UTF8.self)
      let path = message.files.first.map { "/proc/self/fd/\($0)" } ?? asked
      var answer = Answer()
      do throws(BuildError) {
        answer.inspection = try SourceInspection(reading: path, options: options)
      } catch {
        answer.failure = FailureMessage(
          reason: error.reason.replacing(path, with: asked), isTemporary: error.isTemporary)
      }
      session.send(seen, BuildMessage.encode(answer))
    }
  }

  private struct Answer: Codable {
    var inspection: SourceInspection?
    var failure: FailureMessage?
  }

  /// Has a source looked at; see `SourceInspection`.
  static func inspect(
    _ file: SourceFile, _ server: CellServer, memory: Int, seconds: Int
  ) throws(BuildError) -> SourceInspection {
    let path = file.path
    let answer: Answer
    do throws(CellEnd) {
      answer = try ask(file, server, memory: memory, seconds: seconds)
    } catch {
      server.count(error)
      throw BuildError(path, error.description, isTemporary: error.isTemporary)
    }
    if let failure = answer.failure {
      throw BuildError(path, failure.reason.line, isTemporary: failure.isTemporary)
    }
    guard let inspection = answer.inspection, inspection.isPossible else {
      throw BuildError(path, CellEnd.garbled.description)
    }
    return inspection
  }

  private static func ask(
    _ file: SourceFile, _ server: CellServer, memory: Int, seconds: Int
  ) throws(CellEnd) -> Answer {
    let (needs, path) = (SourceNeeds(file), file.path)
    let nameless = SourceNeeds.openNameless(path).map { [$0] } ?? []
    let files = needs.openFiles()
    defer { for file in files + nameless { close(file) } }
    let limits = CellLimits(memory: memory, mostMemory: memory, processorSeconds: seconds)
    let cell = try server.begin(kind, limits, reading: files, warmth: needs.warmth)
    defer { cell.end() }
    let patience = Cell.Patience(seconds: seconds)
    try cell.send(look, Array(path.utf8), files: nameless, within: patience)
    let answer = try cell.receive(longest: { _ in BuildMessage.longestWords }, within: patience)
    return try BuildMessage.decode(Answer.self, answer)
  }
}
