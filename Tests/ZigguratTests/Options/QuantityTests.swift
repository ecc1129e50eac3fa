import Testing

@testable import ziggurat

@Suite struct QuantityTests {
  @Test(
    arguments: [
      ("0", .megabytes, 0), ("64", .megabytes, 67_108_864), ("64", .kilobytes, 65_536),
      ("64MB", .kilobytes, 67_108_864), ("64 MB", .kilobytes, 67_108_864), ("64mb", .kilobytes, 67_108_864),
      ("1.5GB", .megabytes, 1_610_612_736), ("512KB", .megabytes, 524_288), ("7B", .megabytes, 7),
      ("4TB", .megabytes, 4_398_046_511_104), ("30", .seconds, 30), ("30", .hours, 108_000),
      ("30s", .hours, 30),
      ("15m", .seconds, 900), ("12h", .seconds, 43_200), ("7d", .seconds, 604_800), ("0.5h", .seconds, 1800),
      ("50MP", .pixels, 50_000_000), ("50", .megapixels, 50_000_000), ("2GP", .megapixels, 2_000_000_000),
      ("10000px", .megapixels, 10_000), ("0.25MP", .pixels, 250_000), ("007s", .hours, 7),
    ] as [(String, Quantity.Unit, Int)])
  func `a number has a unit, or that of the option`(text: String, unit: Quantity.Unit, value: Int) {
    #expect(Quantity.value(of: text, in: unit) == value)
  }

  @Test(
    arguments: [
      "", " ", "MB", "-1", "+1", "1.5", "1.", ".5", "1.MB", "1..5MB", "1e3", "0x10", "64M B", "64  MB",
      "64MB ", " 64",
      "64 ", "64XB", "64s", "64MP", "٦٤", "NaN", "99999999999999999999", "9999999999TB", "1.1234567MB", "1_0",
    ])
  func `other texts are no quantities`(text: String) {
    #expect(Quantity.value(of: text, in: .megabytes) == nil)
  }

  @Test(
    arguments: [
      (.size, 0, "0"), (.size, 1, "1B"), (.size, 65_536, "64KB"), (.size, 1 << 32, "4GB"),
      (.duration, 90, "90s"),
      (.duration, 1800, "30m"), (.duration, 86_400, "1d"), (.pixels, 50_000_000, "50MP"),
      (.pixels, 10_000, "10000px"),
    ] as [(Quantity, Int, String)])
  func `a value is printed in its largest whole unit`(quantity: Quantity, value: Int, text: String) {
    #expect(quantity.text(value) == text)
  }
}
