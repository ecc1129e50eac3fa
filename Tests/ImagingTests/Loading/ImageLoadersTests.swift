import Foundation
import Testing
import ZigguratTestSupport

@testable import ZigguratImaging

/// A source gets the loader that its content and its name ask for, and is not handed to any other.
@Suite struct ImageLoadersTests {
  @Test(arguments: [
    ("x.jpg", "jpegload"), ("x.png", "pngload"), ("x.tif", "tiffload"), ("x.webp", "webpload"),
    ("x.gif", "gifload"), ("x.avif", "heifload"), ("x.heic", "heifload"), ("x.jp2", "jp2kload"),
    ("x.jxl", "jxlload"), ("x.ppm", "ppmload"), ("x.pfm", "ppmload"), ("x.fits", "fitsload"),
    ("x.hdr", "radload"),
    ("x.v", "vipsload"), ("x.bmp", "magickload"), ("x.tga", "magickload"), ("x.psd", "magickload"),
    ("x.ico", "magickload"),
  ])
  func `a file written by libvips is read by the loader of its format`(name: String, loader: String) throws {
    let folder = try TemporaryFolder()
    try Tool.check(["vips", "black", folder("black.v"), "40", "30", "--bands", "3"])
    try Tool.check(["vips", "copy", folder("black.v"), folder("colour.v"), "--interpretation", "srgb"])
    let saver = loader == "magickload" ? "magicksave" : "copy"
    try Tool.check(["vips", saver, folder("colour.v"), folder(name)])
    #expect(Image.loader(ofPath: folder(name)) == loader)
    let image = try Image(path: folder(name), access: .sequential)
    #expect(image.width == 40 && image.height == 30)
    // By its content, whatever its name; Targa has no signature.
    try FileManager.default.moveItem(atPath: folder(name), toPath: folder("picture"))
    #expect(Image.loader(ofPath: folder("picture")) == (name == "x.tga" ? nil : loader))
  }

  @Test(
    arguments: [
      (
        "x.svg", "<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>",
        "svgload"
      ),
      (
        "x.pdf",
        "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n"
          + "3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]>>endobj\ntrailer<</Root 1 0 R>>\n", "pdfload"
      ),
      ("x.jpg", "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>", "svgload"),
      ("x.svg", "<?xml version='1.0'?><!--\(String(repeating: "long ", count: 600))--><svg/>", "svgload"),
      ("x.svg", "<?xml version='1.0'?><s:svg xmlns:s='http://www.w3.org/2000/svg'/>", "svgload"),
      ("x.svg", "<!DOCTYPE svg [<!ENTITY a 'svg'>]>\(String(repeating: " ", count: 2000))<html/>", nil),
      ("x.svg", "<!--\(String(repeating: "long ", count: 600))--><html><svg/></html>", nil),
      ("x.pbm", "P1\n4 2\n10101010\n", "magickload"), ("x.pgm", "P2\n2 1\n15\n1 2\n", "ppmload"),
      ("x.pam", "P7\nWIDTH 1\nHEIGHT 1\nDEPTH 1\nMAXVAL 255\nENDHDR\n ", "magickload"),
      ("x.mvg", "push graphic-context\nviewbox 0 0 9 9\npop graphic-context\n", nil),
      ("x.tga", "push graphic-context\nviewbox 0 0 9 9\npop graphic-context\n", nil),
      ("x.bmp", "push graphic-context\nviewbox 0 0 9 9\npop graphic-context\n", nil),
      ("x.msl", "<?xml version='1.0'?><image><read filename='/etc/passwd'/></image>", nil),
      ("x.txt", "This is a letter.\n", nil), ("x.csv", "1,2,3\n4,5,6\n", nil),
      ("x.raw", "1,2,3\n4,5,6\n", nil),
      ("x.mat", "2 2\n1 2\n3 4\n", nil), ("x.jpg", "", nil), ("x.xpm", "/* XPM */", nil),
      ("x.miff", "id=ImageMagick", nil),
      ("x.ps", "%!PS-Adobe-3.0\n", nil),
    ] as [(String, String, String?)])
  func `text files are read only if they are drawings`(name: String, text: String, loader: String?) throws {
    let folder = try TemporaryFolder()
    // Others have let ImageMagick and more in, in this process.
    let bitmap = try folder.write("a.bmp", Array("BM".utf8) + [UInt8](repeating: 0, count: 100))
    #expect(Image.loader(ofPath: bitmap) == "magickload")
    #expect(Image.loader(ofPath: try folder.write(name, text.utf8)) == loader)
    if loader == nil {
      #expect(throws: ImagingError.self) { _ = try Image(path: folder(name), access: .sequential) }
    }
  }

  @Test func `a missing file or a folder has no loader`() throws {
    let folder = try TemporaryFolder()
    for path in [folder("none.jpg"), folder.path, ""] { #expect(Image.loader(ofPath: path) == nil) }
  }
}
