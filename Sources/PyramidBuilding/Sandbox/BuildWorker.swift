import Foundation
import Glibc
import TileGeometry
import TileStorage
import ZigguratConcurrency
import ZigguratFiles
import ZigguratImaging
package import ZigguratSandbox

/// A sandboxed process that builds pictures for a `SandboxedPictureBuilder`, one after the other.
package enum BuildWorker {
  package static let kind = ProcessLauncher.Kind(rawValue: 1)

  /// Returns the main function of such a process. The options are the whole program's; an order may replace some of
  /// them.
  package static func work(_ options: BuildOptions) -> WorkerMain {
    { session in
      let host = SandboxedBuildHost(session)
      host.listen()
      while true {
        let (order, file) = host.nextOrder()
        build(order, file, order.options?.applied(to: options) ?? options, host, session)
        if let file { close(file) }
      }
    }
  }

  /// - Parameter descriptor: the descriptor of a source without a name in the file system.
  private static func build(
    _ order: BuildOrder, _ descriptor: Int32?, _ options: BuildOptions, _ host: SandboxedBuildHost,
    _ session: WorkerConnection
  ) {
    let path = descriptor.map { "/proc/self/fd/\($0)" } ?? order.path
    PDFPassword.use(order.pdfPassword)
    do throws(BuildError) {
      let file = try SourceFile(path: path, name: order.name)
      if order.page == nil, order.associated == nil,
        let pages = try PagesMessage(of: file, options, countsOnly: order.countsOnly)
      {
        let message = BuildMessage.encode(pages)
        guard BuildMessage.isTaken(pages: message) else {
          throw BuildError(path, "has \(pages.count) pages, in no order that can be listed")
        }
        return session.send(BuildMessage.pages, message)
      }
      let report = try PyramidBuilder(options: options, threads: 1)
        .build(
          file, page: order.page, folio: order.folio, associated: order.associated,
          digest: order.digest, metadata: order.metadata,
          for: host
        ) {
          (pyramid, format) throws(StorageError) in
          guard let descriptor = host.takeFile() else { return StreamedArchive(session) }
          return InheritedFileArchive(
            SZIWriter(descriptor: descriptor, name: order.root, pyramid: pyramid, format: format),
            descriptor)
        }
      session.send(
        BuildMessage.built,
        BuildMessage.encode(ResultMessage(report)))
    } catch {
      session.send(
        BuildMessage.failed,
        BuildMessage.encode(FailureMessage(error, path: path, name: order.path)))
    }
  }
}

/// The host of builds in a sandboxed process. It asks the parent to accept a plan, and starts further threads on the
/// parent's request.
private final class SandboxedBuildHost: BuildHost, @unchecked Sendable {
  // Sendable: every variable is accessed under `monitor` only.
  private let monitor = ConditionLock()
  private let session: WorkerConnection
  private var messages: [WorkerMessage] = []
  private var picture: (any PictureInWork)?
  private var file: Int32?
  private var reported = 0.0
  /// Threads that were requested before there was work for them.
  private var waiting = 0

  init(_ session: WorkerConnection) { self.session = session }

  /// Starts a thread that receives messages; some arrive while a picture is being built.
  func listen() {
    let isStarted = StartedThread.detached(stackBytes: 256 << 10) { [self] in
      while true { hear(session.next { reportProgress() }) }
    }
    if !isStarted { _exit(71) }
  }

  /// Returns the next order, with its descriptor if it has one.
  func nextOrder() -> (BuildOrder, Int32?) {
    let message = next()
    guard message.kind == BuildMessage.build,
      let order = try? BuildMessage.decode(BuildOrder.self, message)
    else { _exit(2) }
    return (order, message.files.first)
  }

  func check(_ plan: BuildPlan, _ source: String) throws(BuildError) {
    session.send(BuildMessage.plan, BuildMessage.encode(PlanMessage(plan)))
    let message = next()
    guard message.kind == BuildMessage.go else { _exit(2) }
    file = message.files.first
  }

  /// Returns the file for the archive; nil if the archive is sent tile by tile.
  func takeFile() -> Int32? {
    defer { file = nil }
    return file
  }

  func begin(_ picture: any PictureInWork, memory: Int, _ source: String) {
    monitor.withLock {
      self.picture = picture
      reported = 0
      for _ in 0..<waiting { assist(picture) }
      waiting = 0
    }
  }

  func end(_ picture: any PictureInWork, memory: Int) {
    monitor.withLock {
      self.picture = nil
      waiting = 0
    }
  }

  private func next() -> WorkerMessage {
    monitor.lock()
    defer { monitor.unlock() }
    while messages.isEmpty { monitor.wait() }
    return messages.removeFirst()
  }

  private func hear(_ message: WorkerMessage) {
    monitor.lock()
    defer { monitor.unlock() }
    if message.kind == BuildMessage.assist {
      if let picture { assist(picture) } else { waiting += 1 }
    } else {
      messages.append(message)
      monitor.wakeAll()
    }
  }

  /// If no thread can be started, the other threads do the work.
  private func assist(_ picture: any PictureInWork) { _ = StartedThread.detached { picture.assist() } }

  private func reportProgress() {
    monitor.lock()
    let picture = picture
    monitor.unlock()
    guard let progress = picture?.progress, progress > reported + 0.005 else { return }
    reported = progress
    session.send(BuildMessage.progress, BuildMessage.encode([progress]))
  }
}

/// An archive in a file that is inherited from the parent.
private final class InheritedFileArchive: ArchiveWriter {
  private let writer: SZIWriter
  private let descriptor: Int32
  private var isOpen = true

  init(_ writer: SZIWriter, _ descriptor: Int32) {
    self.writer = writer
    self.descriptor = descriptor
  }

  func append(tile index: Int, _ bytes: UnsafeRawBufferPointer, crc: UInt32) throws(StorageError) {
    try writer.append(tile: index, bytes, crc: crc)
  }

  func append(_ relativeName: String, _ bytes: [UInt8]) throws(StorageError) {
    try writer.append(relativeName, bytes)
  }

  func finish() throws(StorageError) -> Int { try writer.finish() }

  /// Called at the end in any case.
  func abandon() {
    if isOpen { close(descriptor) }
    isOpen = false
  }
}

/// An archive that is sent to the parent tile by tile.
private final class StreamedArchive: ArchiveWriter {
  private let session: WorkerConnection
  private var count = 0

  init(_ session: WorkerConnection) { self.session = session }

  func append(tile index: Int, _ bytes: UnsafeRawBufferPointer, crc: UInt32) {
    var message = [UInt8]()
    message.reserveCapacity(12 + bytes.count)
    withUnsafeBytes(of: UInt64(index).littleEndian) { message += $0 }
    withUnsafeBytes(of: crc.littleEndian) { message += $0 }
    message += bytes
    count += bytes.count
    session.send(BuildMessage.tile, message)
  }

  func append(_ relativeName: String, _ bytes: [UInt8]) {
    count += bytes.count
    session.send(BuildMessage.entry, Array(relativeName.utf8) + [0] + bytes)
  }

  func finish() -> Int { count }

  func abandon() {}
}
