import Foundation
import Glibc
import Testing
import ZigguratTestSupport

@testable import PyramidBuilding

/// Files that the sandboxed process of a source may read, and decoders that it needs beside the usual ones.
@Suite struct SourceNeedsTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func needs(_ name: String) throws -> SourceNeeds {
    SourceNeeds(try SourceFile(path: folder(name)))
  }

  /// Below the folder.
  private func opened(_ name: String) throws -> Set<String> {
    let files = try needs(name).openFiles()
    defer { for file in files { close(file) } }
    let root = try #require(realpath(folder.path, nil))
    defer { free(root) }
    return Set(
      try files.map { file in
        let path = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(file)")
        return path.replacing(String(cString: root), with: "").replacing(/^\//, with: "")
      })
  }

  @Test(arguments: ["slide.vms", "slide.VMU"])
  func `only files that a slide lists are opened in its folder`(name: String) throws {
    for each in ["a 1.jpg", "b.jpg", "map.jpg", "x.opt", "other.jpg", ".netrc", "sub/secret"] {
      try folder.write(each, Array("x".utf8))
    }
    try FileManager.default.createSymbolicLink(atPath: folder("link.jpg"), withDestinationPath: "/etc/passwd")
    try FileManager.default.createSymbolicLink(atPath: folder("folder.jpg"), withDestinationPath: "sub")
    let text = """
      [Virtual Microscope Specimen]
      NoLayers=1
      ImageFile=a 1.jpg\r
      ImageFile(1,0) = b.jpg
      MapFile=map.jpg
      OptimisationFile=x.opt
      MacroImage=link.jpg
      ImageFile(2,0)=sub
      ImageFile(3,0)=folder.jpg
      ImageFile(4,0)=.netrc
      ImageFile(5,0)=sub/secret
      ImageFile(6,0)=../\((folder.path as NSString).lastPathComponent)/other.jpg
      ImageFile(7,0)=\(folder("other.jpg"))
      ImageFile(8,0)=.
      ImageFile(9,0)=..
      ImageFile(10,0)=
      Note=other.jpg
      """
    try folder.write(name, text.utf8)
    #expect(try opened(name) == [name, "a 1.jpg", "b.jpg", "map.jpg", "x.opt"])
    #expect(try needs(name).isUncommon)
    // However many it lists.
    let many = (0..<200).map { "ImageFile(\($0),0)=\($0).jpg\n" }.joined()
    for number in 0..<200 { try folder.write("\(number).jpg", []) }
    try folder.write(name, many.utf8)
    let files = try needs(name).openFiles()
    for file in files { close(file) }
    #expect((50...62).contains(files.count))
  }

  @Test(arguments: [
    ("x.bmp", "BM", true, false), ("x.psd", "8BPS", true, false),
    ("x.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", false, true),
    ("x.svg", "<?xml?> <SVG/>", false, true),
    ("x.svgz", "\u{1f}\u{8b}", false, true), ("x.pdf", "%PDF-1.4", false, true),
    ("x.hdr", "#?RGBE\n", false, false), ("x.hdr", "#?RADIANCE\n", false, false),
    ("x.mat", "MATLAB 5.0 MAT-file", false, false), ("x.nii", "\u{5c}\u{1}", false, false),
    ("x.ppm", "P6 1 1 255", false, false), ("x.pfm", "PF 1 1", false, false),
    ("x.fits", "SIMPLE  =", false, false),
    ("x.jpg", "This is a letter.", false, false),
    ("x.msl", "<?xml version='1.0'?><image/>", false, false),
  ])
  func `only the loaders that a file needs are preloaded`(
    name: String, start: String, isMagick: Bool, drawsText: Bool
  ) throws {
    let bytes = start.unicodeScalars.map { UInt8($0.value) }
    try folder.write(name, bytes)
    let needs = try needs(name)
    #expect((needs.preload != nil) == isMagick)
    #expect(needs.isUncommon == (isMagick || drawsText))
    let fonts = try opened(name).contains { $0.contains("fonts") }
    #expect(fonts == drawsText)
  }

  @Test func `of a MIRAX slide, the folder with its name is opened`() throws {
    for each in ["slide.mrxs", "slide/Data.dat", ".mrxs", "..mrxs", "mrxs", "other.jpg"] {
      try folder.write(each, Array("x".utf8))
    }
    #expect(try opened("slide.mrxs") == ["slide.mrxs", "slide"])
    for each in [".mrxs", "..mrxs", "mrxs"] { #expect(try opened(each) == [each]) }
  }
}
