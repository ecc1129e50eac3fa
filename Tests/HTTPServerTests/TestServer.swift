import Glibc
import Synchronization
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratTestSupport
import ZigguratUploading

@testable import ZigguratHTTPServer
@testable import ZigguratTileServing

/// A server of two images in memory, on a free port of 127.0.0.0/8.
final class TestServer {
  static let token = "0123456789abcdef"
  /// The number of bytes in the tile of the image `large`: more than the system buffers for a connection.
  static let largeSize = 12 << 20
  static let large = "/dzi/large_files/4/0_0.jpg"
  /// A request for a tile, as it could follow a body.
  static let inner = "GET \(tile(0)) HTTP/1.1\r\nHost: localhost\r\n\r\n"

  private static let pyramid = Pyramid(imageSize: PixelSize(width: 40, height: 24)!, tileSize: 16)!
  private static let largePyramid = Pyramid(imageSize: PixelSize(width: 10, height: 10)!, tileSize: 16)!

  private struct Source: LibrarySource {
    let path: String

    func version() throws(StorageError) -> Int { 1 }

    func images() throws(StorageError) -> [SourceImage] {
      [
        SourceImage(id: "one", path: path) {
          TileArchive(inMemory: TestServer.pyramid) { Array("tile \($0)".utf8) }
        },
        SourceImage(id: "large", path: path) {
          let large = TestServer.largePyramid.index(of: TileAddress(level: 4, column: 0, row: 0))
          return TileArchive(inMemory: TestServer.largePyramid) {
            [UInt8](repeating: UInt8($0), count: $0 == large ? TestServer.largeSize : 1)
          }
        },
      ]
    }
  }

  private let folder: TemporaryFolder
  let tileServer: TileServer
  /// Uploads, of a server that accepts them.
  let uploads: Uploads?
  let server: HTTPServer
  private let logFile: String

  init(
    proxies: TrustedProxies = .none, takesUploads: Bool = false,
    _ change: (inout HTTPServer.Limits) -> Void = { _ in }
  ) throws {
    // libmicrohttpd leaves the signal to the program.
    signal(SIGPIPE, SIG_IGN)
    folder = try TemporaryFolder()
    var access = TileServerConfiguration()
    access.token = AccessToken(Self.token)
    access.proxies = proxies
    access.isWritable = takesUploads
    uploads = takesUploads ? try Uploads(library: folder.path) : nil
    tileServer = try TileServer(
      library: ListRepository(Source(path: folder.path), name: "test"), publicFolder: nil, access: access,
      uploads: uploads)
    // Longer than any test, unless a test is about them.
    var limits = HTTPServer.Limits()
    limits.idleTimeout = 300
    limits.requestDeadline = 300
    change(&limits)
    logFile = folder("log")
    server = try HTTPServer(
      tileServer: tileServer, hosts: ["0.0.0.0"], port: 0, threads: 1, limits: limits, log: .text,
      logFile: logFile,
      report: { _ in })
  }

  deinit { server.shutdownGracefully(timeout: 0) }

  /// The path of a stored tile, whose bytes are `tile N`.
  static func tile(_ number: Int) -> String {
    let address = pyramid.address(at: number)!
    return "/dzi/one_files/\(address.level)/\(address.column)_\(address.row).jpg"
  }

  /// A GET, whose connection goes on.
  static func get(_ path: String, _ headers: String...) -> String {
    "GET \(path) HTTP/1.1\r\nHost: localhost\r\n" + headers.map { $0 + "\r\n" }.joined() + "\r\n"
  }

  /// The number of connections that the server has.
  var connections: Int { tileServer.metrics.connections.load(ordering: .relaxed) }

  /// The connections that are open now.
  var openConnections: [HTTPConnection] { server.context.connections.table.withLock { Array($0.values) } }

  /// Waits until the server has that many requests whose answers are not sent; returns false after half a minute.
  func waits(forRequests count: Int) -> Bool {
    Self.waits { server.context.requestsInFlight.load(ordering: .relaxed) == count }
  }

  /// Waits until the server has that many connections; returns false after half a minute.
  func waits(forConnections count: Int) -> Bool { Self.waits { connections == count } }

  /// Waits until a condition holds; returns false after half a minute.
  static func waits(until condition: () throws -> Bool) rethrows -> Bool {
    for _ in 0..<3000 {
      if try condition() { return true }
      usleep(10_000)
    }
    return false
  }

  /// The lines of the log, once there are that many.
  func logLines(_ count: Int) throws -> [String] {
    var lines: [String] = []
    _ = try Self.waits {
      server.context.log?.flush()
      let text = String(decoding: try bytes(ofFile: logFile), as: UTF8.self)
      lines = text.split(separator: "\n").map(String.init)
      return lines.count >= count
    }
    return lines
  }
}
