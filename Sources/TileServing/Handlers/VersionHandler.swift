import ZigguratHTTPMessages

/// `/api/version`: the program's name and version, so that clients can tell what a server can do.
struct VersionHandler {
  let version: String

  var response: Response {
    struct Version: Encodable {
      let name = "ziggurat"
      let version: String
    }
    return .json(Version(version: version))
  }
}
