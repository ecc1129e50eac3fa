import Foundation
import Glibc
import TileStorage
package import ZigguratSandbox

/// A sidecar cannot be read or edited at present, for a reason outside the sidecar. A retry may succeed later.
package struct MetadataUnavailable: Error, CustomStringConvertible {
  package init() {}

  package var description: String { "the words of its sidecar cannot be read now" }
}

/// A sandboxed process that reads and edits XMP: Exiv2 parses untrusted data.
package enum MetadataWorker {
  package static let kind = ProcessLauncher.Kind(rawValue: 2)

  /// The main function of the process.
  package static let work: WorkerMain = { session in
    while true {
      let message = session.next(timeout: WorkerPool.idleSeconds)
      session.send(begun)
      session.send(message.kind, answer(message.kind, message.bytes))
    }
  }

  /// The request: a sidecar's bytes. The answer: `Sidecar` as JSON, or nothing if the bytes are not XMP.
  static let read: UInt32 = 1
  /// The request: `EditQuestion` as JSON. The answer: the new sidecar's bytes, or nothing.
  static let edit: UInt32 = 2
  /// The message that is sent before a request is processed.
  private static let begun: UInt32 = 3

  struct EditQuestion: Codable {
    let sidecar: Data
    let edit: MetadataEdit
  }

  /// Processes for public pictures, each for several requests.
  private static let shared = WorkerPool(kind, limits, maxUses: 64)
  /// Processes for private spaces. Each gets a single request, so that it has never read other data.
  private static let secret = WorkerPool(kind, limits, maxUses: 1)
  private static let limits = SandboxLimits(
    memory: 128 << 20, maxMemory: 128 << 20, processorSeconds: processorSeconds)
  /// The maximum processor time of one sidecar in seconds. A process with several requests may end by their sum. The
  /// request is then repeated (`WorkerPool`), so that only the time of one counts against it.
  static let processorSeconds = 3
  /// The maximum time in seconds until a process starts a request; otherwise no process is available at present.
  private static let secondsToBegin = 5
  /// The maximum time in seconds until an answer. If a process has not used its processor time in them, the cause is
  /// the machine rather than the sidecar.
  private static let seconds = 60

  /// Sends a request to a sandboxed process. In a program without such processes, which only uses the library, the
  /// calling process answers.
  ///
  /// - Returns: empty bytes, too, if the request made two new processes crash, or exceed their memory or processor
  ///   time.
  static func ask(
    _ question: UInt32, _ bytes: [UInt8], isPrivate: Bool
  ) throws(MetadataUnavailable) -> [UInt8] {
    guard let server = ProcessLauncher.running else { return answer(question, bytes) }
    let pool = isPrivate ? secret : shared
    var crashes = 0
    for _ in 0..<attempts {
      do throws(TerminationReason) {
        let message = try pool.ask(
          server, question, bytes, seconds: secondsToBegin, begun: (kind: begun, seconds: seconds))
        guard message.kind == question else { throw .garbled }
        return message.bytes
      } catch {
        switch error {
        // Another attempt could wait as long again. If a busy system does not end a killed process in time, that counts
        // as garbled: the sidecar is not the cause.
        case .time, .cancelled, .garbled: throw MetadataUnavailable()
        // The server of the processes was killed, or a person killed the process; no sidecar makes one exit.
        case .unavailable, .exit, .signal(SIGKILL), .signal(SIGTERM): break
        // Includes SIGXCPU: the sidecar took all its processor time, however busy the machine is.
        case .signal, .memory:
          crashes += 1
          if crashes == 2 { return [] }
        }
      }
    }
    throw MetadataUnavailable()
  }

  /// More than the number of idle processes: all of them may have ended with the same server.
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
