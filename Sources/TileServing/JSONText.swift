/// JSON written straight to memory, for answers that are asked for thousands of times a second;
/// everything else is encoded by Foundation.
struct JSONText: ~Copyable {
  // An array would ask before every byte whether it is alone.
  private var start: UnsafeMutablePointer<UInt8>
  private var count = 0
  private var capacity: Int
  private var needsComma = false

  init(capacity: Int) {
    self.capacity = max(capacity, 64)
    start = .allocate(capacity: self.capacity)
  }

  deinit { start.deallocate() }

  var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

  mutating func object(_ body: (inout JSONText) -> Void) { nest("{", "}", body) }

  mutating func list(_ body: (inout JSONText) -> Void) { nest("[", "]", body) }

  mutating func key(_ name: StaticString) {
    comma()
    reserve(name.utf8CodeUnitCount + 3)
    put("\"")
    put(UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
    put("\"")
    put(":")
    needsComma = false
  }

  // A member of an object (RFC 8259, section 4): its name and its value.
  mutating func member(_ name: StaticString, _ number: Int) {
    key(name)
    value(number)
  }

  mutating func member(_ name: StaticString, _ number: Double) {
    key(name)
    value(number)
  }

  mutating func member(_ name: StaticString, _ flag: Bool) {
    key(name)
    value(flag)
  }

  mutating func member(_ name: StaticString, _ text: String) {
    key(name)
    value(text)
  }

  /// - Parameter bytes: JSON already.
  mutating func member(_ name: StaticString, json bytes: [UInt8]) {
    key(name)
    value(json: bytes)
  }

  mutating func value(_ number: Int) {
    comma()
    reserve(20)
    if number < 0 { put("-") }
    put(digits: number.magnitude)
    needsComma = true
  }

  /// Whole numbers without a fraction; -0 as 0. The number is finite.
  mutating func value(_ number: Double) {
    if let whole = Int(exactly: number) { return value(whole) }
    comma()
    append(number.description)
    needsComma = true
  }

  mutating func value(_ flag: Bool) {
    comma()
    append(flag ? "true" : "false")
    needsComma = true
  }

  /// A value that is JSON already.
  mutating func value(json bytes: [UInt8]) {
    comma()
    reserve(bytes.count)
    bytes.withUnsafeBufferPointer { put($0) }
    needsComma = true
  }

  mutating func null() {
    comma()
    append("null")
    needsComma = true
  }

  mutating func value(_ text: String) {
    comma()
    // At worst every byte becomes six.
    reserve(text.utf8.count * 6 + 2)
    put("\"")
    var text = text
    text.withUTF8 { for byte in $0 { putEscaped(byte) } }
    put("\"")
    needsComma = true
  }

  private mutating func putEscaped(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      put("\\")
      put(byte)
    case 0..<0x20:
      let digits = String(byte, radix: 16)
      for byte in ("\\u" + String(repeating: "0", count: 4 - digits.count) + digits).utf8 { put(byte) }
    default: put(byte)
    }
  }

  private mutating func nest(
    _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout JSONText) -> Void
  ) {
    comma()
    reserve(1)
    put(open)
    needsComma = false
    body(&self)
    reserve(1)
    put(close)
    needsComma = true
  }

  private mutating func comma() {
    reserve(1)
    if needsComma { put(",") }
  }

  private mutating func append(_ text: String) {
    var text = text
    reserve(text.utf8.count)
    text.withUTF8 { put($0) }
  }

  // MARK: Into memory that `reserve` has made sure of

  private mutating func reserve(_ more: Int) {
    guard count + more > capacity else { return }
    let larger = max(capacity * 2, count + more)
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    memory.update(from: start, count: count)
    start.deallocate()
    (start, capacity) = (memory, larger)
  }

  private mutating func put(_ byte: UInt8) {
    start[count] = byte
    count += 1
  }

  private mutating func put(_ character: Unicode.Scalar) { put(UInt8(ascii: character)) }

  private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
    guard let base = bytes.baseAddress else { return }
    (start + count).update(from: base, count: bytes.count)
    count += bytes.count
  }

  private mutating func put(digits number: UInt) {
    var length = 1
    var rest = number / 10
    while rest > 0 {
      length += 1
      rest /= 10
    }
    rest = number
    for at in stride(from: count + length - 1, through: count, by: -1) {
      start[at] = UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0")
      rest /= 10
    }
    count += length
  }
}
