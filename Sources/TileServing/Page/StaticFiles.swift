import Glibc
import Synchronization
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages

/// The files of `public/`, or of the bundle built from it. They are read on request and cached until they change.
/// If the client accepts it, they are sent compressed, by Brotli if a copy with the suffix `.br` exists.
///
/// A file with a hash of its content in its name, as bundlers write it, may be cached permanently.
final class StaticFiles: Sendable {
  private struct Page {
    let identity: FileIdentity
    let plain: [UInt8]
    let gzip: [UInt8]?
    let tag: EntityTag
    let policy: ContentSecurityPolicy

    func below(_ base: BasePath) -> Page {
      let bytes = base.put(inFrontOfPathsIn: plain)
      return Page(
        identity: identity, plain: bytes, gzip: Response.gzip(bytes, level: 6), tag: EntityTag(of: bytes),
        policy: ContentSecurityPolicy(ofPage: bytes))
    }

    /// Inserts `head` before the title, where the page's metadata begins.
    func with(_ head: String) -> Page {
      guard let title = plain.firstRange(of: Array("<title>".utf8)) else { return self }
      var bytes = plain
      bytes.insert(contentsOf: Array(head.utf8), at: title.lowerBound)
      return Page(
        identity: identity, plain: bytes, gzip: Response.gzip(bytes, level: 6), tag: EntityTag(of: bytes),
        policy: policy)
    }
  }

  private let root: String
  private let enclosure: RootDirectory
  private let base: BasePath
  private let owner: SiteIdentity
  private let pages = Mutex<[String: Page]>([:])
  /// Maximum file size in bytes, far above that of any page or picture of the viewer.
  private static let maxSize = 16 << 20

  /// - Parameters:
  ///   - base: the prefix of root-relative paths in pages.
  ///   - identity: the site whose name pages show.
  init(
    root: String, below base: BasePath = BasePath(of: ""), of identity: SiteIdentity = SiteIdentity()
  ) throws(StorageError) {
    self.root = root
    self.base = base
    self.owner = identity
    enclosure = try RootDirectory(root)
  }

  /// Returns the response to a request for a file.
  /// - Parameters:
  ///   - path: decoded, below the folder.
  ///   - head: additional elements for the page's head.
  ///   - prefix: the path below which this client reaches the server, if it is not fixed.
  func response(
    _ path: String, acceptEncoding: String, frames: FrameAncestors = .own, head: String = "",
    below prefix: BasePath? = nil
  ) -> Response {
    let parts = path.split(separator: "/", omittingEmptySubsequences: false)
    let isClean = parts.allSatisfy {
      !$0.isEmpty && !$0.hasPrefix(".") && !$0.contains("\\") && !$0.contains("\0")
    }
    guard isClean else { return .text(404, "there is nothing at this path") }
    var page: Page
    switch self.page(path) {
    case .found(let found): page = found
    case .missing: return .text(404, "there is nothing at this path")
    case .unreadable: return .text(500, "this file cannot be read")
    }
    if let prefix, !prefix.text.isEmpty, Self.ending(path) == "html" { page = page.below(prefix) }
    if !head.isEmpty { page = page.with(head) }
    let (coding, compressed) = self.compressed(page, path, ContentCodings(acceptEncoding))
    var headers: [(name: String, value: String)] = [
      ("Content-Type", Self.mediaType(path)),
      // Different bytes need a different entity tag (RFC 9110, section 8.8.3.3).
      ("ETag", compressed.map { EntityTag(of: $0).text } ?? page.tag.text),
      (
        "Cache-Control",
        Self.isNamedByContent(path) ? "public, max-age=31536000, immutable" : "public, max-age=60"
      ),
      ("X-Content-Type-Options", "nosniff"),
      ("Content-Security-Policy", page.policy.text(frames)), ("Referrer-Policy", "same-origin"),
      Response.anyOrigin,
      // Pages with a cross-origin embedder policy may load the file (HTML, "Cross-origin embedder policies").
      ("Cross-Origin-Resource-Policy", "cross-origin"),
    ]
    if page.gzip != nil { headers.append(("Vary", "Accept-Encoding")) }
    if compressed != nil { headers.append(("Content-Encoding", coding)) }
    return Response(200, headers, .bytes(compressed ?? page.plain))
  }

  /// Uses a compressed copy only if the file's name contains a content hash. Otherwise the copy could be of an
  /// older version.
  private func compressed(_ page: Page, _ path: String, _ taken: ContentCodings) -> (String, [UInt8]?) {
    guard page.gzip != nil else { return ("", nil) }
    if taken.takeBrotli, Self.isNamedByContent(path), case .found(let copy) = self.page(path + ".br") {
      return ("br", copy.plain)
    }
    return ("gzip", taken.takeGzip ? page.gzip : nil)
  }

  /// Whether the name has the form that bundlers write: `view-chunk-LQ7AX5CZ.js`.
  private static func isNamedByContent(_ path: String) -> Bool {
    let name = path.split(separator: "/").last ?? ""
    let stem = name.prefix { $0 != "." }
    guard let dash = stem.lastIndex(of: "-") else { return false }
    let hash = stem[stem.index(after: dash)...].utf8
    return hash.count == 8 && hash.allSatisfy { (0x41...0x5a).contains($0) || (0x32...0x37).contains($0) }
  }

  private enum Lookup {
    case found(Page)
    case missing
    /// The file exists, but is not readable by this process or is too large.
    case unreadable
  }

  private func page(_ path: String) -> Lookup {
    let descriptor = open("\(root)/\(path)", O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else {
      return [ENOENT, ENOTDIR, ENAMETOOLONG].contains(errno) ? .missing : .unreadable
    }
    defer { close(descriptor) }
    guard enclosure.holds(descriptor) else { return .missing }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return .unreadable }
    guard status.st_mode & S_IFMT == S_IFREG else { return .missing }
    guard status.st_size <= Self.maxSize else { return .unreadable }
    let identity = FileIdentity(status)
    if let page = pages.withLock({ $0[path] }), page.identity == identity { return .found(page) }
    var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
    let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
    guard count == bytes.count else { return .unreadable }
    if Self.ending(path) == "html" { bytes = owner.named(base.put(inFrontOfPathsIn: bytes)) }
    let page = Page(
      identity: identity, plain: bytes, gzip: Self.isText(path) ? Response.gzip(bytes, level: 9) : nil,
      tag: EntityTag(of: bytes),
      policy: Self.ending(path) == "html" ? ContentSecurityPolicy(ofPage: bytes) : ContentSecurityPolicy())
    pages.withLock { $0[path] = page }
    return .found(page)
  }

  private static func isText(_ path: String) -> Bool {
    ["html", "js", "mjs", "css", "svg", "json", "map", "txt", "webmanifest"].contains(ending(path))
  }

  private static func ending(_ path: String) -> String {
    path.lastIndex(of: ".").map { path[path.index(after: $0)...].lowercased() } ?? ""
  }

  private static func mediaType(_ path: String) -> String {
    switch ending(path) {
    case "html": "text/html; charset=utf-8"
    case "js", "mjs": "text/javascript; charset=utf-8"
    case "css": "text/css; charset=utf-8"
    case "svg": "image/svg+xml"
    case "json", "map": "application/json"
    case "webmanifest": "application/manifest+json"
    case "png": "image/png"
    case "jpg", "jpeg": "image/jpeg"
    case "webp": "image/webp"
    case "ico": "image/x-icon"
    case "txt", "ts": "text/plain; charset=utf-8"
    case "woff2": "font/woff2"
    default: "application/octet-stream"
    }
  }
}
