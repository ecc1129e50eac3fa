import TileServing

/// Who may write to a library that is served.
enum WriteAccess {
  static let options = [
    Option("writable", help: "take changes and uploads from who has the token, printed at the start"),
    Option(
      "token-file", "FILE", needs: "writable",
      help: "the token is this file's first line, 16 to 256 characters"),
    Option("keep-deleted", "24", needs: "writable", help: "hours that deleted images can be restored"),
  ]

  /// Sets who may write.
  /// - Returns: what the printed address carries behind `#`, where the token is a new one.
  static func read(_ arguments: Arguments, into access: inout Access) throws(UsageError) -> String? {
    guard try arguments.flag("writable") else {
      if arguments.string("token-file") != nil {
        throw UsageError("\(arguments.spelled("token-file")) has no meaning without --writable")
      }
      return nil
    }
    access.isWritable = true
    if let hours = try arguments.int("keep-deleted", in: 0...87_600) { access.keepsDeleted = hours * 3600 }
    guard let path = arguments.string("token-file") else {
      let (token, text) = AccessToken.make()
      access.token = token
      return text
    }
    guard let token = AccessToken(try SecretFile.line(path)) else {
      throw UsageError("the first line of \(path) is no token: 16 to 256 characters without spaces")
    }
    access.token = token
    return nil
  }
}
