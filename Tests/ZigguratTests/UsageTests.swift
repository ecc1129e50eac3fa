import Testing

/// The program asked for what it cannot do: one line that says how it is asked.
@Suite struct UsageTests {
  @Test(
    arguments: [
      ([], nil), (["biuld"], "unknown command 'biuld'; did you mean 'build'?"),
      (["x"], "unknown command 'x'; see 'ziggurat --help'"),
      (["help", "x"], "unknown command 'x'; see 'ziggurat --help'"),
      (["build"], "the source is missing: ziggurat build SOURCE… --library DIR"),
      (["build", "x"], "option '--library' is missing; see 'ziggurat help build'"),
      (
        ["build", "x", "--library", "/nowhere", "--tile-size", "513"],
        "--tile-size is '513'; it takes an even number"
      ),
      (
        ["build", "x", "--library", "/nowhere", "--tile-size", "1"],
        "--tile-size is '1'; it takes a whole number from 64 to 8192"
      ),
      (
        ["build", "x", "--library", "/nowhere", "--format", "bmp"],
        "--format is 'bmp'; it takes jpeg, png, webp, avif, jxl or auto"
      ),
      (
        ["build", "x", "--library", "/nowhere", "--fidelity", "best"],
        "--fidelity is 'best'; it takes exact, fast, lossless or auto"
      ),
      (
        ["build", "x", "--library", "/nowhere", "--background", "1,2,256"],
        "--background is '1,2,256'; it takes red,green,blue, each 0 to 255"
      ),
      (["serve"], "the library's folder is missing; see 'ziggurat help serve'"),
      (["serve", "x", "--port", "65536"], "--port is '65536'; it takes a whole number from 0 to 65535"),
      (
        ["serve", "x", "--base-url", "x"],
        "--base-url is 'x'; it takes a URL such as https://example.org/images"
      ),
      (["tiles"], "the archive is missing; see 'ziggurat help tiles'"),
      (["tiles", "x"], "option '--viewport' is missing; see 'ziggurat help tiles'"),
      (
        ["tiles", "x", "--viewport", "axbxc"],
        "--viewport is 'axbxc'; it takes WIDTHxHEIGHT, such as 1280x800"
      ),
      (
        ["tiles", "x", "--viewport", "5x5", "--offset", "1"], "--offset is '1'; it takes X,Y, such as 300,200"
      ),
      (["inspect"], "the archive or image is missing; see 'ziggurat help inspect'"),
      (["verify", "a", "b"], "unexpected 'b' behind the library or archive"),
      (["export", "x", "--output", "y"], "option '--layout' is missing; see 'ziggurat help export'"),
      (
        ["export", "x", "--output", "y", "--layout", "dzi"],
        "--layout is 'dzi'; it takes dz, zoomify, xyz or iiif3"
      ),
      (
        ["export", "x", "--output", "y", "--layout", "xyz", "--overlap", "1"],
        "--overlap goes with --layout dz only"
      ),
      (
        ["export", "x", "--output", "y", "--layout", "zoomify", "--format", "png"],
        "--format is 'png'; zoomify has jpeg only"
      ),
    ] as [([String], String?)])
  func `wrong usage is one line on stderr, 2`(words: [String], message: String?) throws {
    let outcome = try Program.run(words)
    #expect(outcome.code == 2)
    #expect(outcome.output == "")
    #expect(outcome.complaints == [message].compactMap { $0 })
  }

  @Test(arguments: [
    ("ZIGGURAT_VIEWPORT=axbxc", "ZIGGURAT_VIEWPORT is 'axbxc'; it takes WIDTHxHEIGHT, such as 1280x800"),
    ("ZIGGURAT_OFFSET=1", "ZIGGURAT_OFFSET is '1'; it takes X,Y, such as 300,200"),
    ("ZIGGURAT_FLIP=x", "ZIGGURAT_FLIP is 'x'; it takes true or false"),
  ])
  func `a bad value is told by the name it came under`(variable: String, message: String) throws {
    let given = variable.contains("VIEWPORT") ? [] : ["--viewport", "5x5"]
    let outcome = try Program.run(["tiles", "x"] + given, environment: [variable])
    #expect(outcome.code == 2)
    #expect(outcome.complaints == [message])
    let scale = try Program.run(["tiles", "x", "--viewport", "5x5"], environment: ["ZIGGURAT_SCALE=nan"])
    #expect(scale.code == 2)
    #expect(scale.complaints.first?.hasPrefix("ZIGGURAT_SCALE 'nan': ") == true, "\(scale.error)")
  }
}
