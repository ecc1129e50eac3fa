import Glibc

/// A message about one sandboxed process between its owner and the server: sixteen bytes in one packet.
struct SpawnReply {
  enum Kind: Int64 {
    /// To the server: the maximum memory of the process in bytes.
    case allow = 1
    /// From the server: the process ended by this signal, or with this code.
    case signal, exit
    /// From the server: the process was ended because it exceeded this number of bytes of memory.
    case memory
    /// From the server: the process could not be started, because of this error.
    case unavailable
  }

  let kind: Kind
  let value: Int

  static let size = 16

  var bytes: [UInt8] {
    withUnsafeBytes(of: kind.rawValue) { Array($0) } + withUnsafeBytes(of: Int64(value)) { Array($0) }
  }

  /// Waits for the next message; nil if the other side has closed, or sends an invalid one.
  static func read(from socket: Int32) -> SpawnReply? {
    var fields: (Int64, Int64) = (0, 0)
    while true {
      let count = withUnsafeMutableBytes(of: &fields) { Glibc.read(socket, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count == size, let kind = Kind(rawValue: fields.0) else { return nil }
      return SpawnReply(kind: kind, value: Int(fields.1))
    }
  }

  /// The end of a process that it reports; nil for other messages.
  var end: TerminationReason? {
    switch kind {
    case .allow: nil
    case .signal: .signal(Int32(truncatingIfNeeded: value))
    case .exit: .exit(Int32(truncatingIfNeeded: value))
    case .memory: .memory(value)
    case .unavailable: .unavailable(Int32(truncatingIfNeeded: value))
    }
  }
}
