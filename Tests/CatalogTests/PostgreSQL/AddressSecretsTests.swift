import Testing

@testable import ZigguratCatalog

struct AddressSecretsTests {
  @Test(arguments: [
    ("postgresql://u:secret@host/d", "postgresql://u:***@host/d"),
    ("cannot open 'postgresql://u:se/cr@et@host/d': no", "cannot open 'postgresql://u:***@host/d': no"),
    ("--catalog=postgres://u:secret@host", "--catalog=postgres://u:***@host"),
    (
      "postgresql://host/d?user=u&password=secret&sslmode=require",
      "postgresql://host/d?user=u&password=***&sslmode=require"
    ),
    ("postgresql://u:a@h/d?password=b c://u:e@f", "postgresql://u:***@h/d?password=*** c://u:***@f"),
    ("postgresql://u@host:5432/d", "postgresql://u@host:5432/d"),
    ("postgresql://u:@host/d", "postgresql://u:@host/d"),
    ("http://host:80/a@b", "http://host:80/a@b"), ("http://u:p@host:80/a@b", "http://u:***@host:80/a@b"),
    ("://", "://"), ("://:@", "://:@"), ("://a:b@", "://a:***@"), ("", ""),
    ("password=x", "password=***"), ("host=h password = 'a b' user=u", "host=h password = '***' user=u"),
    ("password=x for http://u:p@h/ and password=y", "password=*** for http://u:***@h/ and password=***"),
    ("no password is given", "no password is given"), ("postgresql:u:secret@h/d", "postgresql:u:***@h/d"),
    ("postgresql//u:secret@h/d", "postgresql//u:***@h/d"),
    (
      "postgresql://h/d?p%61ssword=secret&sslpassword=more", "postgresql://h/d?p%61ssword=***&sslpassword=***"
    ),
  ])
  func `passwords of URLs are masked anywhere in a text`(text: String, masked: String) {
    #expect(AddressSecrets.redacted(text) == masked)
  }

  @Test func `blanks and quotation marks in an argument belong to the password`() {
    for password in ["a b", "it's", "say \"x\"", "a@b c"] {
      let bytes = Array("--catalog=postgresql://u:\(password)@host/d".utf8)
      #expect(AddressSecrets.ranges(in: bytes[...], isWhole: true) == [25..<25 + password.utf8.count])
    }
  }

  @Test func `a message contains no part of a password that was parsed as host or port`() {
    let address = "postgresql://u:one%40two/three@host/d?password=four"
    let message = "invalid port \"one%40two\" of host one@two in three@host, four, u, d"
    #expect(
      AddressSecrets.redacted(message, about: address)
        == "invalid port \"***\" of host *** in ***@host, ***, u, d")
  }
}
