import Testing

/// The program asked for what it cannot do: one line that says how it is asked.
@Suite struct UsageTests {
  @Test(
    arguments: [
      ([], nil), (["biuld"], "unknown command 'biuld'; did you mean 'build'?"),
      (["x"], "unknown command 'x' (see 'ziggurat --help')"),
      (["help", "x"], "unknown command 'x' (see 'ziggurat --help')"),
      (["build"], "missing source (usage: ziggurat build SOURCE… --library DIR)"),
      (["build", "x"], "missing option --library (see 'ziggurat help build')"),
      (
        ["build", "x", "--library", "/nowhere", "--tile-size", "513"],
        "invalid value '513' for --tile-size (expected an even number)"
      ),
      (
        ["build", "x", "--library", "/nowhere", "--tile-size", "1"],
        "invalid value '1' for --tile-size (expected a whole number from 64 to 8192)"
      ),
      (
        ["build", "x", "--library", "/nowhere", "--format", "bmp"],
        "invalid value 'bmp' for --format (expected jpeg, png, webp, avif, jxl or auto)"
      ),
      (
        ["build", "x", "--library", "/nowhere", "--fidelity", "best"],
        "invalid value 'best' for --fidelity (expected exact, fast, lossless or auto)"
      ),
      (
        ["build", "x", "--library", "/nowhere", "--background", "1,2,256"],
        "invalid value '1,2,256' for --background (expected R,G,B, each from 0 to 255)"
      ),
      (["serve"], "missing library folder (usage: ziggurat serve DIR|ARCHIVE|s3://BUCKET/PREFIX)"),
      (
        ["serve", "x", "--port", "65536"],
        "invalid value '65536' for --port (expected a whole number from 0 to 65535)"
      ),
      (
        ["serve", "x", "--base-url", "x"],
        "invalid value 'x' for --base-url (expected a URL such as https://example.org/images)"
      ),
      (
        ["tiles"],
        "missing archive (usage: ziggurat tiles ARCHIVE --viewport 1280x800 [--scale 0.25] [--offset 300,200])"
      ),
      (["tiles", "x"], "missing option --viewport (see 'ziggurat help tiles')"),
      (
        ["tiles", "x", "--viewport", "axbxc"],
        "invalid value 'axbxc' for --viewport (expected WIDTHxHEIGHT, such as 1280x800)"
      ),
      (
        ["tiles", "x", "--viewport", "5x5", "--offset", "1"],
        "invalid value '1' for --offset (expected X,Y, such as 300,200)"
      ),
      (["inspect"], "missing archive or image (usage: ziggurat inspect ARCHIVE|SOURCE)"),
      (["verify", "a", "b"], "unexpected argument 'b' after the library or archive"),
      (["export", "x", "--output", "y"], "missing option --layout (see 'ziggurat help export')"),
      (
        ["export", "x", "--output", "y", "--layout", "dzi"],
        "invalid value 'dzi' for --layout (expected dz, zoomify, xyz or iiif3)"
      ),
      (
        ["export", "x", "--output", "y", "--layout", "xyz", "--overlap", "1"],
        "--overlap requires --layout dz"
      ),
      (
        ["export", "x", "--output", "y", "--layout", "zoomify", "--format", "png"],
        "invalid value 'png' for --format (expected jpeg for zoomify)"
      ),
    ] as [([String], String?)])
  func `wrong usage is one line on stderr with exit code 2`(arguments: [String], message: String?) throws {
    let outcome = try Program.run(arguments)
    #expect(outcome.code == 2)
    #expect(outcome.output == "")
    #expect(outcome.complaints == [message].compactMap { $0 })
  }

  @Test(arguments: [
    (
      "ZIGGURAT_VIEWPORT=axbxc",
      "invalid value 'axbxc' for ZIGGURAT_VIEWPORT (expected WIDTHxHEIGHT, such as 1280x800)"
    ),
    ("ZIGGURAT_OFFSET=1", "invalid value '1' for ZIGGURAT_OFFSET (expected X,Y, such as 300,200)"),
    ("ZIGGURAT_FLIP=x", "invalid value 'x' for ZIGGURAT_FLIP (expected true or false)"),
  ])
  func `an invalid value is reported under the name that was used`(variable: String, message: String) throws {
    let given = variable.contains("VIEWPORT") ? [] : ["--viewport", "5x5"]
    let outcome = try Program.run(["tiles", "x"] + given, environment: [variable])
    #expect(outcome.code == 2)
    #expect(outcome.complaints == [message])
    let scale = try Program.run(["tiles", "x", "--viewport", "5x5"], environment: ["ZIGGURAT_SCALE=nan"])
    #expect(scale.code == 2)
    #expect(scale.complaints.first?.hasPrefix("ZIGGURAT_SCALE 'nan': ") == true, "\(scale.error)")
  }
}
