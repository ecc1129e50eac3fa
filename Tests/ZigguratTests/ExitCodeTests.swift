import Foundation
import Testing
import ZigguratFiles
import ZigguratTestSupport

@testable import TileStorage
@testable import ziggurat

/// The program run as users run it: its exit code, what it says, what it leaves.
@Suite struct ExitCodeTests {
  @Test(arguments: [
    (["--version"], "ziggurat \(Ziggurat.version)\n"), (["version"], "ziggurat \(Ziggurat.version)\n"),
    (["help", "tiles"], Help.text(of: TilesCommand.self)),
    (["tiles", "--help"], Help.text(of: TilesCommand.self)),
    (["build", "x", "-h"], Help.text(of: BuildCommand.self)),
  ])
  func `help and version are printed to stdout with exit code 0`(arguments: [String], output: String) throws {
    let outcome = try Program.run(arguments)
    #expect(outcome.code == 0)
    #expect(outcome.output == output)
    #expect(outcome.error == "")
  }

  @Test func `a build, an unchanged build and a rebuild end with 0`() throws {
    let folder = try TemporaryFolder()
    let source = try Picture.write(folder, "in/deep/a.ppm", 300, 200)
    let arguments = ["build", folder("in"), "--library", folder("out"), "--json", "--quiet"]
    let statuses = try [arguments, arguments, arguments + ["--force"], arguments + ["--tile-size", "256"]].map
    { arguments in
      let outcome = try Program.run(arguments)
      #expect(outcome.code == 0)
      #expect(outcome.error == "")
      let line = try JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any]
      #expect(line?["id"] as? String == "deep/a")
      #expect(line?["source"] as? String == source)
      return line?["status"] as? String
    }
    #expect(statuses == ["built", "unchanged", "built", "built"])
    #expect(archives(folder) == ["deep/a.szi"])
    #expect(try TileArchive(path: folder("out/deep/a.szi")).buildRecord?.sourceName == "a.ppm")
  }

  @Test func `a relative source path works and ends with 0`() throws {
    let folder = try TemporaryFolder()
    _ = try Picture.write(folder, "in/a.ppm", 30, 20)
    let outcome = try Program.shell("cd \"$1\" && exec \"$0\" build in --library out", [folder.path])
    #expect(outcome.code == 0, "\(outcome.error)")
    #expect(archives(folder) == ["a.szi"])
    let seen = try Program.shell("cd \"$1\" && exec \"$0\" inspect in/a.ppm", [folder.path])
    #expect(seen.code == 0, "\(seen.error)")
  }

  @Test func `if some images fail, the rest is built, and the exit code is 1`() throws {
    let folder = try TemporaryFolder()
    _ = try Picture.write(folder, "in/good.ppm", 30, 20)
    try folder.write("in/bad.jpg", "no picture".utf8)
    try folder.write("in/empty.png", [])
    try folder.write("in/notes.txt", "not tried".utf8)
    let outcome = try Program.run(["build", folder("in"), folder("absent"), "--library", folder("out")])
    #expect(outcome.code == 1)
    #expect(outcome.output == "")
    #expect(outcome.complaints.count == 3, "\(outcome.error)")
    for (name, reason) in [
      ("absent", "No such file or directory"), ("in/empty.png", "the file is empty"), ("in/bad.jpg", ""),
    ] {
      #expect(outcome.complaints.contains { $0.hasPrefix("\(folder(name)): \(reason)") }, "\(outcome.error)")
    }
    #expect(outcome.error.hasSuffix("1 built, 3 failed, 1 file skipped (--verbose says why)\n"))
    #expect(archives(folder) == ["good.szi"])
  }

  /// A name may hold what would look like another failure, or move the terminal's cursor.
  @Test func `a failure is one line for any file name`() throws {
    let folder = try TemporaryFolder()
    try folder.write("in/a\nziggurat: b\u{1b}[2J.jpg", "no picture".utf8)
    let outcome = try Program.run(["build", folder("in"), "--library", folder("out"), "--quiet"])
    #expect(outcome.code == 1)
    #expect(outcome.error.split(separator: "\n").count == 1, "\(outcome.error)")
    #expect(!outcome.error.contains("\u{1b}"))
  }

  @Test func `an impossible library is reported, and the exit code is 1`() throws {
    let folder = try TemporaryFolder()
    let source = try Picture.write(folder, "a.ppm", 30, 20)
    let outcome = try Program.run(["build", source, "--library", source])
    #expect(outcome.code == 1)
    #expect(outcome.complaints == ["cannot make the folder \(source): there is a file of that name"])
    for arguments in [
      ["serve", folder("absent")], ["verify", folder("absent")], ["inspect", folder("absent")],
      ["export", folder("absent"), "--layout", "dz", "--output", folder("tree")],
    ] {
      let outcome = try Program.run(arguments)
      #expect(outcome.code == 1)
      #expect(outcome.output == "")
      #expect(
        outcome.complaints.count == 1 && outcome.error.contains("No such file or directory"),
        "\(outcome.error)")
    }
  }

  /// A limit on the size of files stands for a full disk.
  @Test func `a full disk ends with 75, and nothing is left`() throws {
    let folder = try TemporaryFolder()
    let source = try Picture.write(folder, "a.ppm", 400, 300)
    let outcome = try Program.shell(
      "ulimit -f 1; exec \"$0\" build \"$1\" --library \"$2\" --format png --quiet", [source, folder("out")])
    #expect(outcome.code == 75, "\(outcome.error)")
    #expect(outcome.complaints.count == 1)
    #expect(archives(folder) == [])
  }

  @Test func `a result that cannot be written ends with an error`() throws {
    let outcome = try Program.shell("exec \"$0\" --version > /dev/full", [])
    #expect(outcome.code == 75)
    #expect(outcome.complaints == ["cannot write the result: No space left on device"])
  }

  @Test func `verify ends with 0 for an intact archive, else 1 with a line for each defect`() throws {
    let folder = try TemporaryFolder()
    _ = try Picture.write(folder, "a.ppm", 130, 70)
    let build = ["build", folder("a.ppm"), "--library", folder("out"), "--tile-size", "64", "--quiet"]
    #expect(try Program.run(build).code == 0)
    let whole = try Program.run(["verify", folder("out")])
    #expect(whole.code == 0)
    #expect(whole.output == "")
    #expect(whole.error == "1 archive read, no faults\n")

    let path = folder("out/a.szi")
    let archive = try TileArchive(path: path)
    var damaged = try bytes(ofFile: path)
    let top = archive.pyramid.topLevel
    for column in 0...1 {
      let tile = archive.tile(archive.tileIndex(level: top, column: column, row: 1)!)!
      damaged[tile.baseAddress! - archive.file!.bytes.baseAddress! + tile.count / 2] ^= 0x10
    }
    try folder.write("out/a.szi.new", damaged)
    rename(folder("out/a.szi.new"), path)
    try folder.write("out/b.szi", "no archive".utf8)
    let outcome = try Program.run(["verify", folder("out")])
    #expect(outcome.code == 1)
    #expect(outcome.error == "2 archives read, 3 faults\n")
    let lines = Set(outcome.output.split(separator: "\n").map(String.init))
    #expect(
      lines == [
        "\(path): tile \(top)/0_1.jpg is damaged: its checksum differs",
        "\(path): tile \(top)/1_1.jpg is damaged: its checksum differs",
        "\(folder("out/b.szi")): no ZIP directory at its end: not an archive, or cut short",
      ])
  }

  @Test func `tiles and inspect print JSON and end with 0`() throws {
    let folder = try TemporaryFolder()
    _ = try Picture.write(folder, "a.ppm", 130, 70)
    let build = ["build", folder("a.ppm"), "--library", folder("out"), "--tile-size", "64", "--quiet"]
    #expect(try Program.run(build).code == 0)
    let archive = folder("out/a.szi")
    func json(_ arguments: [String]) throws -> [String: Any] {
      let outcome = try Program.run(arguments)
      #expect(outcome.code == 0 && outcome.error == "", "\(outcome.error)")
      return try #require(JSONSerialization.jsonObject(with: Data(outcome.output.utf8)) as? [String: Any])
    }
    let tiles = try json(["tiles", archive, "--viewport", "64x64", "--scale", "1", "--offset", "64,0"])
    let list = try #require(tiles["tiles"] as? [[String: Any]])
    #expect(list.map { "\($0["level"]!)/\($0["column"]!)_\($0["row"]!)" } == ["8/1_0"])
    let facts = try json(["inspect", archive, "--json"])
    #expect(facts["width"] as? Int == 130 && facts["height"] as? Int == 70)
    #expect(facts["tileSize"] as? Int == 64 && facts["source"] as? String == "a.ppm")
    let source = try json(["inspect", folder("a.ppm"), "--json"])
    #expect(source["width"] as? Int == 130 && source["bands"] as? Int == 3)
  }

  /// Interrupted in the middle: 130, what is finished stays, the rest leaves nothing. The process starts with
  /// the mask of a test's thread, which blocks both signals.
  @Test(arguments: [SIGINT, SIGTERM])
  func `an interrupted build ends with 130`(number: Int32) throws {
    // As a terminal has it: a shell's background jobs ignore it, and so would what they start.
    signal(SIGINT, SIG_DFL)
    let folder = try TemporaryFolder()
    _ = try Picture.write(folder, "in/0.ppm", 64, 64)
    // Long in work, so that the signal meets one of them.
    for image in 1...9 { _ = try Picture.write(folder, "in/\(image).ppm", 1500, 2000) }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Program.path)
    process.arguments = ["build", folder("in"), "--library", folder("out"), "--jobs", "1", "--format", "png"]
    let log = try folder.write("log", [])
    process.standardError = FileHandle(forWritingAtPath: log)
    try process.run()
    // One is finished, so that others are in work.
    let deadline = Date(timeIntervalSinceNow: 60)
    while !folder.files(below: "out").contains(where: { $0.hasSuffix(".szi") }), Date() < deadline {
      usleep(2000)
    }
    kill(process.processIdentifier, number)
    process.waitUntilExit()
    let said = String(decoding: try bytes(ofFile: log), as: UTF8.self)
    #expect(process.terminationReason == .exit && process.terminationStatus == 130, "\(said)")
    #expect(
      said.hasSuffix("ziggurat: interrupted; what is finished stays, the rest left nothing\n"), "\(said)")
    let left = archives(folder)
    #expect(left.contains("0.szi") && left.count < 10)
    for file in left {
      #expect(file.hasSuffix(".szi"))
      #expect(try TileArchive(path: folder("out/\(file)")).hasEveryByte)
    }
  }

  @Test(arguments: [SIGINT, SIGTERM])
  func `serve prints its address once, and ends with 0 on request`(number: Int32) throws {
    let folder = try TemporaryFolder()
    try FolderTree.make(folder("library"))
    let process = Process()
    process.executableURL = URL(fileURLWithPath: Program.path)
    process.arguments = ["serve", folder("library"), "--port", "0", "--webroot", folder("library")]
    let output = try folder.write("output", [])
    process.standardOutput = FileHandle(forWritingAtPath: output)
    process.standardError = FileHandle.nullDevice
    try process.run()
    let deadline = Date(timeIntervalSinceNow: 60)
    while try bytes(ofFile: output).last != 10, process.isRunning, Date() < deadline { usleep(2000) }
    kill(process.processIdentifier, number)
    process.waitUntilExit()
    #expect(process.terminationReason == .exit && process.terminationStatus == 0)
    let said = String(decoding: try bytes(ofFile: output), as: UTF8.self)
    #expect(said.wholeMatch(of: /listening on http:\/\/127\.0\.0\.1:[1-9][0-9]*\/\n/) != nil, "\(said)")
  }
}

/// Everything in the library but its catalog, which stands and falls with none of them.
private func archives(_ folder: TemporaryFolder) -> [String] {
  folder.files(below: "out").filter { !$0.hasPrefix("catalog.") }
}

extension TileArchive {
  fileprivate var hasEveryByte: Bool {
    (0..<pyramid.tileCount).allSatisfy { index in
      tile(index).map { TileStorage.checksum($0) } == checksum(ofTile: index)
    } && entryNames.allSatisfy(isIntact)
  }
}
