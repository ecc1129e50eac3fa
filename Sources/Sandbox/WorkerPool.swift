import Synchronization

/// A pool of sandboxed processes of one kind. Each answers one request at a time, and is kept a short while for the
/// next one.
///
/// Consecutive requests share a process: not for requests that must not know of each other.
package final class WorkerPool: Sendable {
  private struct IdleWorker {
    let process: SandboxedProcess
    var answers: Int
    let since: ContinuousClock.Instant
  }

  private let kind: ProcessLauncher.Kind
  private let limits: SandboxLimits
  private let maxUses: Int
  private let kept = Mutex<[IdleWorker]>([])

  /// The idle time in seconds after which a process exits; see `WorkerConnection.next(timeout:)`.
  package static let idleSeconds = 2

  /// - Parameter maxUses: the number of answers after which a process is replaced.
  package init(_ kind: ProcessLauncher.Kind, _ limits: SandboxLimits, maxUses: Int) {
    self.kind = kind
    self.limits = limits
    self.maxUses = maxUses
  }

  /// Sends one request and waits for the one message that answers it.
  ///
  /// - Parameters:
  ///   - longest: the maximum size of the answer in bytes.
  ///   - seconds: the timeout of the answer.
  ///   - begun: the kind of a message that the process sends before it works on the request, and the timeout in seconds
  ///     from then on; nil if it sends none.
  package func ask(
    _ server: ProcessLauncher, _ question: UInt32, _ bytes: [UInt8], longest: Int = WorkerMessage.maxLength,
    seconds: Int, begun: (kind: UInt32, seconds: Int)? = nil
  ) throws(TerminationReason) -> WorkerMessage {
    while true {
      let known = take()
      let process = if let known { known.process } else { try server.begin(kind, limits) }
      do throws(TerminationReason) {
        let timeout = SandboxedProcess.Timeout(seconds: seconds)
        try process.send(question, bytes, within: timeout)
        var answer = try process.receive(longest: { _ in longest }, within: timeout)
        if let begun, answer.kind == begun.kind {
          answer = try process.receive(
            longest: { _ in longest }, within: SandboxedProcess.Timeout(seconds: begun.seconds))
        }
        keep(IdleWorker(process: process, answers: (known?.answers ?? 0) + 1, since: .now))
        return answer
      } catch {
        process.end()
        // The process may have exited while it was idle, or because of an earlier request.
        if known != nil, error.mayBeOfEarlier { continue }
        server.count(error)
        throw error
      }
    }
  }

  private func take() -> IdleWorker? {
    kept.withLock { kept in
      let now = ContinuousClock.now
      kept.removeAll { now - $0.since > .milliseconds(900 * Self.idleSeconds) }
      return kept.popLast()
    }
  }

  private func keep(_ process: IdleWorker) {
    guard process.answers < maxUses else { return process.process.end() }
    kept.withLock { $0.append(process) }
  }
}

extension TerminationReason {
  /// Whether the process's work before the last request may be the cause.
  package var mayBeOfEarlier: Bool {
    switch self {
    case .signal, .exit, .garbled, .memory: true
    case .time, .cancelled, .unavailable: false
    }
  }
}
