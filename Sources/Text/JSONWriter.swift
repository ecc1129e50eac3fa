/// A writer of JSON straight to memory, for answers that are requested thousands of times a second. Foundation encodes
/// all other JSON.
package struct JSONWriter: ~Copyable {
  // An array would check before every byte whether it is uniquely referenced.
  private var start: UnsafeMutablePointer<UInt8>
  private var count = 0
  private var capacity: Int
  private var needsComma = false
  private var fractions = NumberFormatCache()

  package init(capacity: Int) {
    self.capacity = max(capacity, 64)
    start = .allocate(capacity: self.capacity)
  }

  deinit { start.deallocate() }

  package var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

  package mutating func object(_ body: (inout JSONWriter) -> Void) { nest("{", "}", body) }

  package mutating func list(_ body: (inout JSONWriter) -> Void) { nest("[", "]", body) }

  package mutating func key(_ name: StaticString) {
    let length = name.utf8CodeUnitCount
    reserve(length + 4)
    // A tenth of a viewport query's instructions are executed here.
    var end = start + count
    if needsComma {
      end.pointee = UInt8(ascii: ",")
      end += 1
    }
    end.pointee = UInt8(ascii: "\"")
    UnsafeMutableRawPointer(end + 1).copyMemory(from: name.utf8Start, byteCount: length)
    end += 1 + length
    end[0] = UInt8(ascii: "\"")
    end[1] = UInt8(ascii: ":")
    count = end + 2 - start
    needsComma = false
  }

  // A member of an object (RFC 8259, section 4): its name and its value.
  package mutating func member(_ name: StaticString, _ number: Int) {
    key(name)
    value(number)
  }

  package mutating func member(_ name: StaticString, _ number: Double) {
    key(name)
    value(number)
  }

  package mutating func member(_ name: StaticString, _ flag: Bool) {
    key(name)
    value(flag)
  }

  package mutating func member(_ name: StaticString, _ text: String) {
    key(name)
    value(text)
  }

  /// - Parameter bytes: encoded JSON.
  package mutating func member(_ name: StaticString, json bytes: [UInt8]) {
    key(name)
    value(json: bytes)
  }

  package mutating func value(_ number: Int) {
    reserve(21)
    comma()
    if number < 0 { put("-") }
    put(digits: number.magnitude)
    needsComma = true
  }

  /// Writes a finite number. Whole numbers have no fraction; -0 is written as 0.
  package mutating func value(_ number: Double) {
    if let whole = Int(exactly: number) { return value(whole) }
    reserve(NumberFormatCache.maxLength + 1)
    comma()
    needsComma = true
    if let known = fractions.range(of: number) {
      return put(UnsafeBufferPointer(start: start + known.lowerBound, count: known.count))
    }
    let first = count
    var text = number.description
    text.withUTF8 { put($0) }
    fractions.add(number, at: first..<count)
  }

  package mutating func value(_ flag: Bool) {
    reserve(6)
    comma()
    part(flag ? "true" : "false")
    needsComma = true
  }

  /// Writes a value that is JSON already.
  package mutating func value(json bytes: [UInt8]) {
    reserve(bytes.count + 1)
    comma()
    bytes.withUnsafeBufferPointer { put($0) }
    needsComma = true
  }

  /// Writes a string in parts, which `body` writes.
  package mutating func string(_ body: (inout JSONWriter) -> Void) { nest("\"", "\"", body) }

  /// Writes a part of a string in the form between the quotes.
  package mutating func part(escaped bytes: [UInt8]) {
    reserve(bytes.count)
    bytes.withUnsafeBufferPointer { put($0) }
  }

  /// Writes a part of a string that needs no escape.
  package mutating func part(_ text: StaticString) {
    reserve(text.utf8CodeUnitCount)
    put(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  /// Writes a part of a string that needs no escape, from memory.
  package mutating func part(plain bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    put(bytes.assumingMemoryBound(to: UInt8.self))
  }

  /// - Parameter number: not negative.
  package mutating func part(_ number: Int) {
    reserve(20)
    put(digits: number.magnitude)
  }

  /// Returns a text in the form between the quotes of a string (RFC 8259, section 7).
  package static func escaped(_ text: String) -> [UInt8] {
    var json = JSONWriter(capacity: text.utf8.count + 2)
    json.value(text)
    return Array(json.bytes.dropFirst().dropLast())
  }

  package mutating func null() {
    reserve(5)
    comma()
    part("null")
    needsComma = true
  }

  package mutating func value(_ text: String) {
    // At worst every byte becomes six.
    reserve(text.utf8.count * 6 + 3)
    comma()
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
    _ open: Unicode.Scalar, _ close: Unicode.Scalar, _ body: (inout JSONWriter) -> Void
  ) {
    reserve(2)
    comma()
    put(open)
    needsComma = false
    body(&self)
    reserve(1)
    put(close)
    needsComma = true
  }

  // MARK: Writing into memory that `reserve` has ensured

  private mutating func comma() { if needsComma { put(",") } }

  @inline(__always) private mutating func reserve(_ more: Int) {
    if count + more > capacity { grow(by: more) }
  }

  @inline(never) private mutating func grow(by more: Int) {
    let larger = max(capacity * 2, count + more)
    let memory = UnsafeMutablePointer<UInt8>.allocate(capacity: larger)
    memory.update(from: start, count: count)
    start.deallocate()
    start = memory
    capacity = larger
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
    if number < 10 { return put(UInt8(ascii: "0") + UInt8(number)) }
    // A multiplication costs a fraction of a division.
    var length = 2
    var bound: UInt = 100
    while number >= bound, length < 20 {
      length += 1
      bound &*= 10
    }
    var rest = number
    var at = start + count + length
    for _ in 0..<length {
      at -= 1
      at.pointee = UInt8(truncatingIfNeeded: rest % 10) + UInt8(ascii: "0")
      rest /= 10
    }
    count += length
  }
}
