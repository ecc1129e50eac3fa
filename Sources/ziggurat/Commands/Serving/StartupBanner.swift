import Foundation
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary

/// The lines that a server prints when it starts: its addresses on stdout, and notes for people on stderr.
struct StartupBanner {
  let configuration: ServerConfiguration
  let process: ServerProcess
  let server: RunningServer
  let library: any ImageRepository

  /// Returns the note about a library whose page is empty.
  static func noArchive(in folder: String) -> String {
    let folder = Output.oneLine(folder)
    return "\(folder) contains no archive (.szi, .dzi or .zip). Is its disk mounted? "
      + "To make archives: ziggurat build PICTURES --library \(folder)"
  }

  func show() {
    showAddresses()
    guard process.space == nil else { return }
    showLibrary()
    if let advice = configuration.advice { Output.note(advice) }
  }

  private func showAddresses() {
    let endpoints = server.endpoints
    let outside = endpoints.lazy.compactMap { endpoint in
      LocalAddress.find(host: endpoint.host).map { "http://\($0):\(endpoint.port)/" }
    }.first
    let base = configuration.network.baseURL.map { $0.hasSuffix("/") ? $0 : $0 + "/" }
    server.tileServer.localAddress.withLock { $0 = base ?? outside }
    let query = server.launchKey?.query ?? ""
    let paths = configuration.network.paths + process.sockets.compactMap(\.place.path)
    let addresses = endpoints.map { $0.url + query } + paths.map { "unix:\($0)" }
    Output.result(addresses.map { "listening on \($0)\n" }.joined())
    // No browser can open the wildcard address.
    let isWildcard = endpoints.first.map { ["0.0.0.0", "::"].contains($0.host) } ?? false
    if let token = process.newToken {
      let address = (isWildcard ? outside : nil) ?? endpoints.first?.url ?? base ?? "/"
      Output.note("write with \(address)#token=\(token)")
    }
    if let metrics = configuration.network.metrics, let port = server.listener.monitorPort {
      Output.note("metrics on \(ServerConfiguration.Endpoint(host: metrics.host, port: port).url)metrics")
    }
  }

  private func showLibrary() {
    let folder = Output.oneLine(configuration.library.location)
    let count = library.counted()
    if library.isEmpty { Output.note(Self.noArchive(in: configuration.library.location)) }
    let uploads = server.uploads == nil ? nil : configuration.uploadRoot
    if let uploads, access(uploads, W_OK) != 0 {
      let reason = StorageError("", errno: errno).reason
      Output.note("\(Output.oneLine(uploads)) cannot be written: \(reason); changes and uploads will fail")
    }
    if let refusal = configuration.uploadRefusal { Output.note("uploads are refused: \(refusal)") }
    let noPage = "the viewer's files were not found: there is no page at / without --webroot DIR"
    // A log in JSON has no lines for people in between.
    let isForPeople = configuration.logs.style != .json || configuration.logs.file != nil
    if isForPeople, count > 0 || uploads != nil {
      let page = server.viewer.map { "the viewer's files are from \($0)" } ?? noPage
      Output.note("serving \(Output.count(count, "image")) of \(folder); \(page)")
    } else if server.viewer == nil {
      Output.note(noPage)
    }
  }
}
