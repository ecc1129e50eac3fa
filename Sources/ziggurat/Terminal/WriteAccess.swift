import ZigguratTileServing

/// The right to write to a library that is served.
enum WriteAccess {
  static let options = [
    Option(
      "writable", isCommon: true,
      help: "Accept changes and uploads from clients with the token, which is printed at the start"),
    Option(
      "token-file", "FILE", requires: "writable", isCommon: true,
      help: "File whose first line is the token, 16 to 256 characters"),
    Option(
      "keep-deleted", .hours, default: "24h", requires: "writable",
      help: "Time in which deleted images can be restored"),
  ].grouped(.changes)

  /// Sets who may write.
  ///
  /// - Returns: the token that the printed address carries after `#`, if it is a new one.
  static func read(_ arguments: Arguments, into access: inout Access) throws(UsageError) -> String? {
    guard try arguments.flag("writable") else {
      if arguments.string("token-file") != nil {
        throw .requires(arguments.spelled("token-file"), "--writable")
      }
      return nil
    }
    access.isWritable = true
    access.keepsDeleted =
      try arguments.quantity("keep-deleted", in: 0...315_360_000) ?? access.keepsDeleted
    guard let path = arguments.string("token-file") else {
      let (token, text) = AccessToken.make()
      access.token = token
      return text
    }
    guard let token = AccessToken(try SecretFile.line(path)) else {
      throw .cannot(
        "use \(path)", "invalid token in its first line (expected 16 to 256 characters without spaces)")
    }
    access.token = token
    if SecretFile.isOpenToAll(path) {
      Output.hold("\(path) can be read by every user of this machine: chmod 600 \(path)")
    }
    return nil
  }
}
