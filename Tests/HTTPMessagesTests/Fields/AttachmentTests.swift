import Testing
import ZigguratHTTPMessages

struct AttachmentTests {
  @Test(
    "a title becomes a file name for every file system",
    arguments: [
      ("Night Watch", "Night Watch.jpg"), ("a/b\\c:d*e?f\"g<h>i|j", "a-b-c-d-e-f-g-h-i-j.jpg"),
      ("..", "image.jpg"), ("", "image.jpg"), (" \u{0}\n ", "image.jpg"), (".profile", "profile.jpg"),
      ("Ende. ", "Ende.jpg"), ("one\r\nSet-Cookie: x", "one Set-Cookie- x.jpg"),
      ("gpj.\u{202e}exe", "gpj. exe.jpg"), ("夜巡", "夜巡.jpg"),
    ])
  func names(title: String, name: String) {
    #expect(Attachment(title: title, ending: "jpg").name == name)
  }

  @Test("a long title is cut, between words if possible")
  func longTitles() {
    for title in [String(repeating: "word ", count: 500), String(repeating: "夜", count: 500)] {
      let name = Attachment(title: title, ending: "jpg").name
      #expect(name.utf8.count <= 210 && name.utf8.count > 50 && !name.contains(" ."))
    }
  }

  @Test("the header has the name in ASCII and UTF-8 and cannot be ended early")
  func disposition() {
    #expect(
      Attachment(title: "Café 100%", ending: "jpg").disposition
        == "attachment; filename=\"Caf_ 100_.jpg\"; filename*=UTF-8''Caf%C3%A9%20100%25.jpg")
    let wild = Attachment(title: "a\"; filename=\"b.exe\r\n\\", ending: "jpg").disposition
    #expect(wild.allSatisfy { $0.isASCII && !$0.isNewline } && wild.filter { $0 == "\"" }.count == 2)
  }
}
