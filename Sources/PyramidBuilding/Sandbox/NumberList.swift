/// Numbers of directories, encoded as progressions: pages and their masks lie in a file at regular distances, and a
/// message has room for few values.
struct NumberList: Codable, Hashable {
  let numbers: [Int]

  /// More than any file has; also the bound of each number.
  static let maximum = 1_000_000

  init(_ numbers: [Int]) { self.numbers = numbers }

  /// Whether no number stands there twice.
  var areDifferent: Bool { Set(numbers).count == numbers.count }

  /// First number, difference and count of each progression.
  func encode(to encoder: any Encoder) throws {
    var parts: [Int] = []
    var start = 0
    while start < numbers.count {
      let step = start + 1 < numbers.count ? numbers[start + 1] - numbers[start] : 0
      var end = start + 1
      while end < numbers.count, numbers[end] - numbers[end - 1] == step { end += 1 }
      parts += [numbers[start], step, end - start]
      start = end
    }
    try parts.encode(to: encoder)
  }

  /// - Throws: unless there are at most `maximum` numbers, each from 0 to `maximum`.
  init(from decoder: any Decoder) throws {
    let parts = try [Int](from: decoder)
    func refused() -> DecodingError {
      .dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: "numbers that no file has"))
    }
    guard parts.count % 3 == 0 else { throw refused() }
    var numbers: [Int] = []
    for start in stride(from: 0, to: parts.count, by: 3) {
      let (first, step, count) = (parts[start], parts[start + 1], parts[start + 2])
      guard 0..<Self.maximum ~= first, -Self.maximum...Self.maximum ~= step, count >= 1,
        count <= Self.maximum - numbers.count,
        0..<Self.maximum ~= first + step * (count - 1)
      else { throw refused() }
      numbers += (0..<count).map { first + step * $0 }
    }
    self.numbers = numbers
  }
}

/// The places of transparency masks by those of their pages.
struct MaskPlaces: Codable {
  let all: [Int: Int]

  init(_ all: [Int: Int]) { self.all = all }

  private enum Key: CodingKey { case pages, masks }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    let sorted = all.sorted { $0.key < $1.key }
    try container.encode(NumberList(sorted.map(\.key)), forKey: .pages)
    try container.encode(NumberList(sorted.map(\.value)), forKey: .masks)
  }

  /// - Throws: unless each page is named once, with one mask.
  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    let pages = try container.decode(NumberList.self, forKey: .pages)
    let masks = try container.decode(NumberList.self, forKey: .masks)
    guard pages.areDifferent, pages.numbers.count == masks.numbers.count else {
      throw DecodingError.dataCorruptedError(
        forKey: .masks, in: container, debugDescription: "pages with no mask, or with several")
    }
    all = Dictionary(uniqueKeysWithValues: zip(pages.numbers, masks.numbers))
  }
}
