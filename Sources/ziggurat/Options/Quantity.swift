/// A kind of quantity whose values have a unit in options: `64MB`, `30s`, `50MP`.
enum Quantity {
  case size, duration, pixels

  /// The unit of a plain number, as an option documents it.
  enum Unit {
    case kilobytes, megabytes
    case seconds, hours
    case pixels, megapixels

    /// The name in the help: `in MB`.
    var name: String {
      switch self {
      case .kilobytes: "KB"
      case .megabytes: "MB"
      case .seconds: "seconds"
      case .hours: "hours"
      case .pixels: "pixels"
      case .megapixels: "megapixels"
      }
    }

    fileprivate var factor: Int {
      switch self {
      case .seconds, .pixels: 1
      case .kilobytes: 1 << 10
      case .megabytes: 1 << 20
      case .hours: 3600
      case .megapixels: 1_000_000
      }
    }

    var quantity: Quantity {
      switch self {
      case .kilobytes, .megabytes: .size
      case .seconds, .hours: .duration
      case .pixels, .megapixels: .pixels
      }
    }
  }

  /// The placeholder in the help.
  var placeholder: String {
    switch self {
    case .size: "SIZE"
    case .duration: "TIME"
    case .pixels: "PIXELS"
    }
  }

  /// The units behind a number, the smallest first. Sizes count in powers of 1024, as in vips and nginx.
  private var suffixes: [(name: String, factor: Int)] {
    switch self {
    case .size: [("B", 1), ("KB", 1 << 10), ("MB", 1 << 20), ("GB", 1 << 30), ("TB", 1 << 40)]
    case .duration: [("s", 1), ("m", 60), ("h", 3600), ("d", 86_400)]
    case .pixels: [("px", 1), ("MP", 1_000_000), ("GP", 1_000_000_000)]
    }
  }

  /// Returns bytes, seconds or pixels; nil if the text is not such a quantity.
  ///
  /// - Parameters:
  ///   - text: `64MB`, `1.5GB` or `64 MB`; a whole number without a unit counts in `unit`.
  ///   - unit: the unit of a plain number.
  static func value(of text: String, in unit: Unit) -> Int? {
    let number = text.prefix { ("0"..."9").contains($0) || $0 == "." }
    var suffix = text[number.endIndex...]
    if suffix.first == " " { suffix = suffix.dropFirst() }
    let parts = number.split(separator: ".", omittingEmptySubsequences: false)
    guard let first = parts.first, let whole = Int(first), parts.count == 1 || parts.count == 2 else {
      return nil
    }
    let factor: Int
    if suffix.isEmpty {
      guard parts.count == 1, number.endIndex == text.endIndex else { return nil }
      factor = unit.factor
    } else {
      let named = unit.quantity.suffixes.first { $0.name.lowercased() == suffix.lowercased() }
      guard let named else { return nil }
      factor = named.factor
    }
    let (product, isTooLarge) = whole.multipliedReportingOverflow(by: factor)
    guard !isTooLarge else { return nil }
    guard parts.count == 2 else { return product }
    // At most 6 digits, so that the product below fits.
    guard (1...6).contains(parts[1].count), let fraction = Int(parts[1]) else { return nil }
    let divisor = (0..<parts[1].count).reduce(1) { power, _ in power * 10 }
    let (sum, overflows) = product.addingReportingOverflow(fraction * factor / divisor)
    return overflows ? nil : sum
  }

  /// Returns a value in the largest unit in which it is a whole number: `4GB`.
  func text(_ value: Int) -> String {
    guard value > 0 else { return "0" }
    let unit = suffixes.last { value % $0.factor == 0 } ?? suffixes[0]
    return "\(value / unit.factor)\(unit.name)"
  }

  /// Returns what an option expects, for an error message.
  func expectation(_ range: ClosedRange<Int>, in unit: Unit) -> String {
    "\(text(range.lowerBound)) to \(text(range.upperBound)), or a plain number of \(unit.name)"
  }
}
