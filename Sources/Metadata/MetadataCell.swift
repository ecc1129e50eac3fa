import Foundation
import Glibc
import TileStorage
package import ZigguratCells

/// A sidecar could not be asked about now, for no fault of its own: later it may be.
package struct WordsUnavailable: Error, CustomStringConvertible {
  package init() {}

  package var description: String { "the words of its sidecar cannot be read now" }
}

/// A cell that reads and edits XMP: Exiv2 parses what strangers wrote.
package enum MetadataCell {
  package static let kind = CellServer.Kind(rawValue: 2)

  /// What such a cell does.
  package static let work: CellWork = { session in
    while true {
      let message = session.next(patience: CellPool.patience)
      session.send(begun)
      session.send(message.kind, answer(message.kind, message.bytes))
    }
  }

  /// The question: a sidecar's bytes. The answer: `Sidecar` as JSON, or nothing where they are no XMP.
  static let read: UInt32 = 1
  /// The question: `EditQuestion` as JSON. The answer: the new sidecar's bytes, or nothing.
  static let edit: UInt32 = 2
  /// The message that is sent before a question is answered.
  private static let begun: UInt32 = 3

  struct EditQuestion: Codable {
    let sidecar: Data
    let edit: MetadataEdit
  }

  /// Several in turn where the pictures are everybody's.
  private static let shared = CellPool(kind, limits, longestUse: 64)
  /// What is in a private space is seen by no cell that has read anything else.
  private static let secret = CellPool(kind, limits, longestUse: 1)
  private static let limits = CellLimits(
    memory: 128 << 20, mostMemory: 128 << 20, processorSeconds: processorSeconds)
  /// Processor time that one sidecar may take. A process that answers several questions may end by their sum; the
  /// question is then asked again (`CellPool`), so that only the time of one counts against it.
  static let processorSeconds = 3
  /// Seconds until a process has to begin with a question; else none can be had now.
  private static let secondsToBegin = 5
  /// Seconds until an answer is given up for now. A process that did not use up its processor time in them says more of
  /// the machine than of the sidecar.
  private static let seconds = 60

  /// Asks a cell; in a process without cells, which only libraries are used in, the process itself.
  ///
  /// - Returns: nothing, too, if the question made two fresh cells crash, or exceed their memory or processor time.
  static func ask(
    _ question: UInt32, _ bytes: [UInt8], isPrivate: Bool
  ) throws(WordsUnavailable) -> [UInt8] {
    guard let server = CellServer.running else { return answer(question, bytes) }
    let pool = isPrivate ? secret : shared
    var crashes = 0
    for _ in 0..<attempts {
      do throws(CellEnd) {
        let message = try pool.ask(
          server, question, bytes, seconds: secondsToBegin, begun: (kind: begun, seconds: seconds))
        guard message.kind == question else { throw .garbled }
        return message.bytes
      } catch {
        switch error {
        // Another attempt would be waited for as long again. A killed process that a busy system does not end in time counts
        // as garbled: that says nothing of the sidecar.
        case .time, .cancelled, .garbled: throw WordsUnavailable()
        // The server of cells was killed, or somebody chose the cell; no sidecar makes one exit.
        case .unavailable, .exit, .signal(SIGKILL), .signal(SIGTERM): break
        // SIGXCPU among them: the sidecar took all its processor time, however busy the machine is.
        case .signal, .memory:
          crashes += 1
          if crashes == 2 { return [] }
        }
      }
    }
    throw WordsUnavailable()
  }

  /// More than cells that are kept: all of them may have ended with the same server.
  private static let attempts = 16

  private static func answer(_ question: UInt32, _ bytes: [UInt8]) -> [UInt8] {
    switch question {
    case read: return Sidecar(parsing: bytes).flatMap { try? JSONEncoder().encode($0) }.map(Array.init) ?? []
    case edit:
      guard let asked = try? JSONDecoder().decode(EditQuestion.self, from: Data(bytes)) else { return [] }
      return Sidecar.write(asked.edit, into: Array(asked.sidecar)) ?? []
    default: return []
    }
  }
}
