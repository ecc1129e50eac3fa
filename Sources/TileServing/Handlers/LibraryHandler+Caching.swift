import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages

/// Headers for a shared cache in front of servers.
extension LibraryHandler {
  /// Returns the Cache-Control value of a response with the archive's pixels.
  func lifetime(of archive: TileArchive) -> String {
    images.cacheControl.with(cacheLifetime(of: archive)) { String(cString: $0) }
  }

  func cacheLifetime(of archive: TileArchive) -> CacheLifetime {
    CacheLifetime(archive.generation, asked: namedGeneration, mayChange: archive.hasTileVersions)
  }

  /// Returns the reply with the surrogate key by which a shared cache purges all responses about the image.
  ///
  /// - Parameter reference: the reference of the image that was found, which may differ from the requested one.
  func withSurrogateKey(_ answer: Reply, _ reference: ImageReference?) -> Reply {
    guard let key = reference.flatMap(edgeKey) else { return answer }
    return answer.map { $0.withSurrogateKey(key) }
  }

  func withSurrogateKey(_ response: Response, _ reference: ImageReference) -> Response {
    edgeKey(reference).map(response.withSurrogateKey) ?? response
  }

  /// Returns the surrogate key of an image; nil without a shared cache, and for private images, which no cache keeps.
  private func edgeKey(_ reference: ImageReference) -> SurrogateKey? {
    guard let seed = images.surrogateSeed, !reference.isPrivate else { return nil }
    return SurrogateKey(of: reference.id.text, seed)
  }
}

extension Response {
  fileprivate func withSurrogateKey(_ key: SurrogateKey) -> Response {
    guard isForAll else { return self }
    var answer = self
    answer["Surrogate-Key"] = key.text
    return answer
  }

  /// The response for a shared cache. Content that may change gets the short lifetime there that tiles have.
  var withSharedCacheHeaders: Response {
    guard isForAll, let directives = self["Cache-Control"],
      !["immutable", "no-cache"].contains(where: directives.contains)
    else { return self }
    var answer = self
    if !directives.contains("s-maxage") {
      answer["Cache-Control"] = "\(directives), \(CacheControlHeaders.edge)"
    }
    answer.headers.append(CacheControlHeaders.nginxOneSecond)
    return answer
  }

  private var isForAll: Bool { self["Cache-Control"]?.hasPrefix("public") == true }
}
