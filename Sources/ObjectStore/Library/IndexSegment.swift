import Glibc
import TileStorage
import ZigguratFiles

/// A group of lines of a library's index, which one builder wrote at once. It is never changed.
///
/// Its key is `directory/<milliseconds since 1970>-<random number>` after the library's prefix. The key of a segment
/// that contains all earlier ones ends in `-whole`. The first line is the format. The last line is the number of lines
/// between them, and their digest.
struct IndexSegment {
  static let folder = "directory/"
  static let first = "ziggurat-directory 1"
  /// The maximum size of a segment in bytes, for a library of ten million images with about 700 bytes each.
  static let maxLength = 8 << 30
  /// The size in bytes up to which a segment is read without checking both ends first.
  static let shortest = 16 << 20
  /// The maximum length of a line in bytes.
  static let maxLineLength = 16 << 20

  let version: ObjectVersion
  let lines: [IndexEntry]
  /// Other segments, whose lines are all in this one.
  let holds: Set<String>
  /// Whether the segment names something that is not a segment. Earlier versions of the program did so, and cannot read
  /// it.
  var isOdd: Bool { !holds.allSatisfy { Self.isName($0) } }

  var isWhole: Bool { version.key.hasSuffix("-whole") }

  /// Whether `name` could have returned a name. Any other object in the folder is a stray object.
  static func isName(_ name: some StringProtocol) -> Bool {
    let bytes = Array(name.utf8)
    guard bytes.count > 14, bytes[13] == UInt8(ascii: "-"),
      let time = Int(String(decoding: bytes[..<13], as: UTF8.self)),
      bytes[..<13].allSatisfy({ (0x30...0x39).contains($0) }), time < latest
    else { return false }
    let rest = String(decoding: bytes[14...], as: UTF8.self)
    let lot = rest.hasSuffix("-whole") ? rest.dropLast("-whole".count) : rest[...]
    return lot.utf8.count <= 16 && UInt64(lot, radix: 16).map { String($0, radix: 16) == lot } ?? false
  }

  /// A time in milliseconds since 1970 that no clock shows. It gives all names one length, and leaves room for later
  /// ones.
  private static let latest = 9_000_000_000_000

  /// Returns a name that sorts after another one.
  static func name(after last: String?, isWhole: Bool) -> String {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    // The clocks of builders differ, so a new name sorts after all names that the builder has seen.
    let seen = last.flatMap { Int($0.prefix(13)) } ?? 0
    let time = String(min(max(now.tv_sec * 1000 + now.tv_nsec / 1_000_000, seen + 1), latest - 1))
    let lot = String(UInt64.random(in: 0...(.max)), radix: 16)
    return String(repeating: "0", count: max(0, 13 - time.count)) + time + "-" + lot
      + (isWhole ? "-whole" : "")
  }

  /// Returns the bytes of a segment with these lines, each with its end.
  static func bytes(_ lines: [[UInt8]]) -> [UInt8] {
    var bytes = Array("\(first)\n".utf8)
    var digest: UInt64 = 0
    for line in lines {
      digest = step(digest, line.dropLast())
      bytes += line
    }
    return bytes + "end\t\(lines.count)\t\(String(digest, radix: 16))\n".utf8
  }

  private static func step(_ digest: UInt64, _ line: some Collection<UInt8>) -> UInt64 {
    Digest.step(digest, Array(line).withUnsafeBytes { Digest.of($0) })
  }

  /// Reads a segment. Throws if a builder did not write it, or not to its end.
  init(_ version: ObjectVersion, _ text: SegmentText) throws(StorageError) {
    var reader = Reader(version: version, text: text)
    try reader.read()
    self.version = version
    lines = reader.lines
    holds = reader.holds
  }

  private struct Reader {
    let version: ObjectVersion
    let text: SegmentText
    var lines: [IndexEntry] = []
    var holds: Set<String> = []
    private var count = 0
    private var digest: UInt64 = 0
    private var isEnded = false
    private var hasBegun = false

    init(version: ObjectVersion, text: SegmentText) {
      self.version = version
      self.text = text
    }

    private var damaged: StorageError {
      StorageError("read the library's directory", "\(version.key) is not what a builder wrote")
    }

    mutating func read() throws(StorageError) {
      let piece = 1 << 20
      var (rest, start): ([UInt8], Int) = ([], 0)
      while start + rest.count < text.count {
        let from = start + rest.count
        guard let more = text.bytes(from..<min(from + piece, text.count)) else { throw damaged }
        rest += more
        var (at, isSound) = (0, true)
        rest.withUnsafeBytes { bytes in
          while let end = bytes[at...].firstIndex(of: UInt8(ascii: "\n")) {
            isSound = take(UnsafeRawBufferPointer(rebasing: bytes[at..<end]), at: start + at) && isSound
            at = end + 1
          }
        }
        guard isSound else { throw damaged }
        rest.removeFirst(at)
        start += at
        // A line without an end must not fill the memory.
        guard rest.count <= IndexSegment.maxLineLength else { throw damaged }
      }
      guard isEnded, rest.isEmpty else { throw damaged }
    }

    private mutating func take(_ line: UnsafeRawBufferPointer, at start: Int) -> Bool {
      guard !isEnded else { return false }
      guard hasBegun else {
        hasBegun = true
        return line.elementsEqual(IndexSegment.first.utf8)
      }
      if line.starts(with: "end\t".utf8) {
        isEnded = true
        return line.elementsEqual("end\t\(count)\t\(String(digest, radix: 16))".utf8)
      }
      guard let read = IndexEntry(line, of: text, at: start) else { return false }
      count += 1
      digest = Digest.step(digest, Digest.of(line))
      if case .holds(let name) = read { holds.insert(name) } else { lines.append(read) }
      return true
    }
  }
}
