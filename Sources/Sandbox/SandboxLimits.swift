import Glibc

/// The limits of a sandboxed process.
package struct SandboxLimits: Sendable, Hashable {
  /// Bytes of its own memory until `SandboxedProcess.allow(memory:)` changes it; above, it is ended.
  package var memory: Int
  /// Bytes that `SandboxedProcess.allow(memory:)` never exceeds: the kernel itself refuses several times as much.
  package var maxMemory: Int
  /// Total processor time in seconds, after which the kernel ends it.
  package var processorSeconds: Int
  /// Its niceness, 0…19, as in nice(1).
  package var niceness: Int

  package init(memory: Int, maxMemory: Int, processorSeconds: Int, niceness: Int = 0) {
    self.memory = memory
    self.maxMemory = max(memory, maxMemory)
    self.processorSeconds = processorSeconds
    self.niceness = niceness
  }
}

/// The reason why a sandboxed process ended before its answer.
package enum TerminationReason: Error, Hashable, Sendable, CustomStringConvertible {
  /// A signal caused by a defect of the decoder.
  case signal(Int32)
  /// The process exited with this code.
  case exit(Int32)
  /// The process needed more than this number of bytes of memory.
  case memory(Int)
  /// The process took longer than this number of seconds.
  case time(Int)
  /// The caller does not want the answer any more.
  case cancelled
  /// The answer is invalid for this kind of work.
  case garbled
  /// No process was available: the system refused one, or the server is gone. The value is the error number.
  case unavailable(Int32)

  /// Whether the decoder crashed or exited without an answer.
  package var isCrash: Bool {
    switch self {
    case .signal(let number): number != SIGKILL
    case .exit: true
    case .memory, .time, .cancelled, .garbled, .unavailable: false
    }
  }

  /// The reason as one clause for a person, without a subject: `the decoder ended by signal 11`.
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

  /// Whether the cause may be other than the file: the process was killed, by a person or because the system had no
  /// memory.
  package var mayBeOfMachine: Bool {
    switch self {
    case .signal(let number): number == SIGKILL
    case .garbled, .unavailable: true
    case .exit, .memory, .time, .cancelled: false
    }
  }

  /// Whether a retry may succeed.
  package var isTemporary: Bool { if case .unavailable = self { true } else { false } }
}
