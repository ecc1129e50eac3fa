import Testing
import ZigguratHTTPMessages

struct ContentCodingsTests {
  @Test(
    "gzip is accepted by name or by asterisk, unless its weight is 0",
    arguments: [
      ("gzip", true), ("GZIP", true), ("x-gzip", true), ("br, gzip", true), ("gzip;q=0.001", true),
      ("gzip ; q=1.000", true), ("*", true), ("br;q=1, *;q=0.1", true), ("*;q=0, gzip", true),
      ("", false), ("br", false), ("identity", false), ("gzip;q=0", false), ("gzip;q=0.000", false),
      ("gzip;q=0.5, identity;q=1", false), ("gzip;q=0.5, identity;q=0.5", true), ("identity, gzip", true),
      ("gzip;q=0.5, *", false), ("*;q=0.3, identity;q=0.4", false), ("identity;q=0, gzip;q=0.1", true),
      ("gzip;q=0, *", false), ("*;q=0", false), ("gzipped", false), (",;,", false),
      // What is no weight wants nothing.
      ("gzip;q=x", false), ("gzip;q=", false), ("gzip;q=2", false), ("gzip;q=1.5", false),
      ("gzip;q=0.0001", false), ("gzip;q=-1", false), ("gzip;q=1e3", false), ("gzip;q=nan", false),
    ])
  func gzip(header: String, isTaken: Bool) { #expect(ContentCodings(header).takeGzip == isTaken) }

  @Test(
    "Brotli is accepted only by name",
    arguments: [
      ("br", true), ("gzip, deflate, BR", true), ("br;q=0.1, gzip", false), ("br;q=0.5, identity", false),
      ("br;q=0.5, gzip;q=0.5, *;q=0", true), ("br;q=0, gzip", false),
      ("*", false), ("gzip", false), ("", false), ("brotli", false), ("br;q=x", false),
    ])
  func brotli(header: String, isTaken: Bool) { #expect(ContentCodings(header).takeBrotli == isTaken) }
}
