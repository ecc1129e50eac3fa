import Testing

@testable import ZigguratTileServing

@Suite struct TimestampTests {
  @Test(arguments: [
    (0, 0, "1970-01-01T00:00:00.000Z"), (951_782_400, 7, "2000-02-29T00:00:00.007Z"),
    (1_795_331_045, 999, "2026-11-22T07:04:05.999Z"), (4_102_444_799, 120, "2099-12-31T23:59:59.120Z"),
  ])
  func `a timestamp is in UTC with milliseconds`(seconds: Int, milliseconds: Int, text: String) {
    #expect(Timestamp(seconds: seconds, milliseconds: milliseconds).description == text)
  }
}
