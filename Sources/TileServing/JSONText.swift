/// JSON written straight to bytes, for answers that are asked for thousands of times a second;
/// everything else is encoded by Foundation.
struct JSONText {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  init(capacity: Int) { bytes.reserveCapacity(capacity) }

  mutating func object(_ body: (inout JSONText) -> Void) { nest("{", "}", body) }

  mutating func list(_ body: (inout JSONText) -> Void) { nest("[", "]", body) }

  mutating func key(_ name: StaticString) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    bytes.append(UInt8(ascii: "\""))
    bytes.append(UInt8(ascii: ":"))
    needsComma = false
  }

  mutating func value(_ number: Int) {
    comma()
    bytes.append(contentsOf: String(number).utf8)
    needsComma = true
  }

  /// Whole numbers without a fraction; -0 as 0. The number is finite.
  mutating func value(_ number: Double) {
    if let whole = Int(exactly: number) { return value(whole) }
    comma()
    bytes.append(contentsOf: number.description.utf8)
    needsComma = true
  }

  mutating func value(_ flag: Bool) {
    comma()
    bytes.append(contentsOf: (flag ? "true" : "false").utf8)
    needsComma = true
  }

  mutating func null() {
    comma()
    bytes.append(contentsOf: "null".utf8)
    needsComma = true
  }

  mutating func value(_ text: String) {
    comma()
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes.append(contentsOf: ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8)
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
    needsComma = true
  }

  private mutating func nest(
    _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout JSONText) -> Void
  ) {
    comma()
    bytes.append(UInt8(ascii: open))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: close))
    needsComma = true
  }

  private mutating func comma() {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
  }
}
