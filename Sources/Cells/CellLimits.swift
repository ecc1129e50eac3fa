import Glibc

/// What a cell may take.
package struct CellLimits: Sendable, Hashable {
  /// Bytes of memory of its own until `Cell.allow(memory:)` says otherwise; above, it is ended.
  package var memory: Int
  /// Bytes that it will never be allowed to pass: the kernel itself refuses several times as much.
  package var mostMemory: Int
  /// Of processor time in all, after which the kernel ends it.
  package var processorSeconds: Int
  /// How far it steps back behind others, 0…19, as nice(1) does.
  package var niceness: Int

  package init(memory: Int, mostMemory: Int, processorSeconds: Int, niceness: Int = 0) {
    self.memory = memory
    self.mostMemory = max(memory, mostMemory)
    self.processorSeconds = processorSeconds
    self.niceness = niceness
  }
}

/// How a cell ended before it had answered.
package enum CellEnd: Error, Hashable, Sendable, CustomStringConvertible {
  /// By a signal that nobody sent on purpose: a fault of the decoder.
  case signal(Int32)
  /// By itself, with an exit code.
  case exit(Int32)
  /// It needed more memory than this, in bytes.
  case memory(Int)
  /// It took longer than so many seconds.
  case time(Int)
  /// Whoever asked does not want the answer any more.
  case cancelled
  /// Its answer is none that the work has.
  case garbled
  /// There was none: the system gave no process, or the server of cells is gone. The error number.
  case unavailable(Int32)

  /// Whether the decoder ended by itself or by an error of its own, without an answer.
  package var isCrash: Bool {
    switch self {
    case .signal(let number): number != SIGKILL
    case .exit: true
    case .memory, .time, .cancelled, .garbled, .unavailable: false
    }
  }

  /// One clause for a person, without a subject: `the decoder ended by signal 11`.
  package var description: String {
    switch self {
    case .signal(SIGXCPU): "it took more processor time than it may"
    case .signal(let number): "the decoder ended by signal \(number)"
    case .exit(let code): "the decoder ended with code \(code)"
    case .memory(let bytes): "it needed more than \(bytes >> 20) MB of memory"
    case .time(let seconds): "it took longer than \(seconds) s"
    case .cancelled: "interrupted"
    case .garbled: "the decoder's answer makes no sense"
    case .unavailable(let code): "no process could be had for it: \(String(cString: strerror(code)))"
    }
  }

  /// Whether something else than the file may be the reason: somebody killed the process, or the system out of memory did.
  package var mayBeOfMachine: Bool {
    switch self {
    case .signal(let number): number == SIGKILL
    case .garbled, .unavailable: true
    case .exit, .memory, .time, .cancelled: false
    }
  }

  /// A retry may mend it.
  package var isTemporary: Bool { if case .unavailable = self { true } else { false } }
}
