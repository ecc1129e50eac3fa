import Testing
import ZigguratTestSupport

@testable import ZigguratImaging

/// PDFs that stay open from one page to the next.
struct OpenPDFTests {
  /// A PDF with a blank page, whose objects poppler finds without a table.
  private static func pdf(_ width: Int) -> [UInt8] {
    Array(
      """
      %PDF-1.4
      1 0 obj << /Type /Catalog /Pages 2 0 R >> endobj
      2 0 obj << /Type /Pages /Count 1 /Kids [3 0 R] >> endobj
      3 0 obj << /Type /Page /Parent 2 0 R /MediaBox [0 0 \(width) 100] >> endobj
      trailer << /Size 4 /Root 1 0 R >>
      startxref
      0
      %%EOF

      """.utf8)
  }

  @Test("a PDF is opened once for all pages, and again if it or the password changed")
  func once() throws {
    let folder = try TemporaryFolder()
    try folder.write("a.pdf", Self.pdf(100))
    let first = try #require(OpenPDF.of(folder("a.pdf")))
    #expect(OpenPDF.of(folder("a.pdf")) === first)
    #expect(try Image(pdfAt: folder("a.pdf"), page: 0, scale: 1).width == 100)
    // Another size, since clocks of file systems are coarse.
    try folder.write("a.pdf", Self.pdf(2000))
    let second = try #require(OpenPDF.of(folder("a.pdf")))
    #expect(second !== first)
    #expect(try Image(pdfAt: folder("a.pdf"), page: 0, scale: 1).width == 2000)
    PDFPassword.use("another")
    defer { PDFPassword.use(nil) }
    #expect(OpenPDF.of(folder("a.pdf")) !== second)
  }

  @Test("other files are not opened")
  func others() throws {
    let folder = try TemporaryFolder()
    try folder.write("a.pdf", Array("no PDF".utf8))
    #expect(OpenPDF.of(folder("a.pdf")) == nil && OpenPDF.of(folder("none.pdf")) == nil)
  }
}
