import ZigguratHTTPMessages

extension Router {
  /// `/api/version`: the program's name and version, so that clients can tell what a server can do.
  var version: Response {
    struct Version: Encodable {
      let name = "ziggurat"
      let version: String
    }
    return .json(Version(version: site.version))
  }
}
