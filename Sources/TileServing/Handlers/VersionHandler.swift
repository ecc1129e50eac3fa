import ZigguratHTTPMessages

/// Serves `/api/version`: the program's name and version, from which clients derive the server's features.
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
