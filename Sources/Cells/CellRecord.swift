import Glibc

/// What a process and its server of cells tell each other of one cell: sixteen bytes, in one packet.
struct CellRecord {
  enum Kind: Int64 {
    /// To the server: the cell may have so many bytes of memory.
    case allow = 1
    /// From the server: the cell ended by this signal, or with this code.
    case signal, exit
    /// From the server: it was ended above this many bytes of memory.
    case memory
    /// From the server: there is no cell, for this error.
    case unavailable
  }

  let kind: Kind
  let value: Int

  static let size = 16

  var bytes: [UInt8] {
    withUnsafeBytes(of: kind.rawValue) { Array($0) } + withUnsafeBytes(of: Int64(value)) { Array($0) }
  }

  /// The next one, waited for; nil where the other side has closed or sends what is none.
  static func read(from socket: Int32) -> CellRecord? {
    var words: (Int64, Int64) = (0, 0)
    while true {
      let count = withUnsafeMutableBytes(of: &words) { Glibc.read(socket, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count == size, let kind = Kind(rawValue: words.0) else { return nil }
      return CellRecord(kind: kind, value: Int(words.1))
    }
  }

  /// What it says of a cell's end; nil where it says something else.
  var end: CellEnd? {
    switch kind {
    case .allow: nil
    case .signal: .signal(Int32(truncatingIfNeeded: value))
    case .exit: .exit(Int32(truncatingIfNeeded: value))
    case .memory: .memory(value)
    case .unavailable: .unavailable(Int32(truncatingIfNeeded: value))
    }
  }
}
