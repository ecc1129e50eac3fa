import Foundation
import Glibc
import TileStorage
package import ZigguratFiles

/// The sources of a build with their ids and versions, found once. Each builder builds a shard of them, and none sees
/// other sources.
///
/// A plan is a file of JSON lines. The first line has the format and the number of source lines. The arguments,
/// failures, books and sources follow.
package struct SourcePlan: Sendable {
  package let scan: SourceScan
  package let asBooks: Bool
  package let prefix: ImageID?
  /// 16 hexadecimal digits that identify the plan.
  package let name: String

  /// Whether some sources must be copied to this machine.
  package var isFromElsewhere: Bool { scan.sources.contains { $0.remote != nil } }

  /// The version of a source when the plan was made.
  package struct Version: Hashable, Codable, Sendable {
    let bytes: Int
    /// Nanoseconds since 1970.
    let modified: Int

    init(_ identity: FileIdentity) { (bytes, modified) = (identity.size, identity.modifiedNanoseconds) }

    /// Creates the version of a file that is identified by its entity tag.
    init(_ file: RemoteFile) { (bytes, modified) = (file.bytes, 0) }
  }

  /// A line, which has one of these members.
  private struct Line: Codable {
    var plan: Head?
    var root: Root?
    var failure: Failure?
    var book: Book?
    var source: Item?
    /// The id, or the prefix of the ids, of images behind a link that was ignored.
    var link: ImageID?
  }

  private struct Head: Codable {
    /// The version of the format.
    let version: Int
    let book: Bool
    let prefix: ImageID?
    let sources: Int
    let passedOver: Int
  }

  private struct Root: Codable {
    let text: String
    let path: String
    let isEmpty: Bool
  }

  private struct Failure: Codable {
    let source: String
    let reason: String
    let isTemporary: Bool
  }

  private struct Book: Codable {
    let id: ImageID
    let folder: String
  }

  private struct Item: Codable {
    let path: String
    let id: ImageID
    let folio: String?
    /// The number of the argument that contained it; nil if there is none.
    let root: Int?
    let version: Version
    var remote, sidecar: RemoteFile?
    /// The folder, as in `SourceScan.Source.enclosure`.
    var enclosure: String?
  }

  private static let version = 1

  // MARK: Writing

  /// Writes a plan.
  ///
  /// - Parameter write: writes each line with its newline.
  /// - Returns: files that can no longer be read, which the plan lists as failures.
  package static func write(
    _ scan: SourceScan, asBooks: Bool, prefix: ImageID?, _ write: ([UInt8]) throws(StorageError) -> Void
  ) throws(StorageError) -> [BuildError] {
    let roots = Dictionary(
      scan.roots.enumerated().map { ($1.root, $0) }, uniquingKeysWith: { first, _ in first })
    var failures = scan.failures
    var items: [Item] = []
    items.reserveCapacity(scan.sources.count)
    for source in scan.sources {
      let version: Version
      if let remote = source.remote {
        version = Version(remote)
      } else {
        var status = stat()
        guard stat(source.path, &status) == 0 else {
          failures.append(BuildError(source.path, StorageError("", errno: errno)))
          continue
        }
        version = Version(FileIdentity(status))
      }
      items.append(
        Item(
          path: source.path, id: source.id, folio: source.folio, root: source.root.flatMap { roots[$0] },
          version: version, remote: source.remote, sidecar: source.sidecar,
          enclosure: source.enclosure))
    }
    func add(_ line: Line) throws(StorageError) { try write(JSONLine.encode(line)) }
    try add(
      Line(
        plan: Head(
          version: version, book: asBooks, prefix: prefix, sources: items.count, passedOver: scan.passedOver))
    )
    for root in scan.roots {
      try add(Line(root: Root(text: root.text, path: root.place.path, isEmpty: root.isEmpty)))
    }
    for each in failures {
      try add(Line(failure: Failure(source: each.source, reason: each.reason, isTemporary: each.isTemporary)))
    }
    for (id, folder) in scan.books.sorted(by: { $0.key < $1.key }) {
      try add(Line(book: Book(id: id, folder: folder)))
    }
    for id in scan.linkedIDs.sorted() { try add(Line(link: id)) }
    for item in items { try add(Line(source: item)) }
    return Array(failures.dropFirst(scan.failures.count))
  }

  // MARK: Reading

  /// - Parameter path: the path of the plan's file; `-` is standard input.
  package init(path: String) throws(StorageError) {
    let lines = try LineReader(path: path)
    func refused(_ reason: String) -> StorageError { StorageError("read the plan \(path)", reason) }
    var digest: UInt64 = 0
    var head: Head?
    var sources: [SourceScan.Source] = []
    var roots: [SourceScan.Argument] = []
    var failures: [BuildError] = []
    var books: [ImageID: String] = [:]
    var ids: Set<ImageID> = []
    var linked: Set<ImageID> = []
    while let bytes = try lines.next() {
      digest = Digest.step(digest, bytes.withUnsafeBytes { Digest.of($0) })
      guard lines.isWhole, let line = try? InputLimit.planLine.json.decode(Line.self, from: bytes) else {
        throw refused(
          head == nil ? "it is not a plan: 'ziggurat plan' writes one" : "its line \(lines.number) is damaged"
        )
      }
      guard let known = head else {
        guard let first = line.plan else { throw refused("it is not a plan: 'ziggurat plan' writes one") }
        guard first.version == Self.version else {
          throw refused("another version of the program wrote it, in format \(first.version)")
        }
        head = first
        continue
      }
      if let root = line.root {
        let place = SourcePlace(path: root.path, isBook: known.book, prefix: known.prefix)
        roots.append(SourceScan.Argument(text: root.text, place: place, isEmpty: root.isEmpty))
      }
      if let each = line.failure {
        failures.append(BuildError(each.source, each.reason, isTemporary: each.isTemporary))
      }
      if let book = line.book { books[book.id] = book.folder }
      if let link = line.link { linked.insert(link) }
      guard let item = line.source else { continue }
      guard !item.id.isHidden, ids.insert(item.id).inserted,
        item.root.map(roots.indices.contains) ?? true,
        item.remote.map({ $0.path == item.path && $0.bytes >= 0 }) ?? (item.sidecar == nil),
        item.folio.map({ "/\($0)".utf8.elementsEqual(item.id.text.utf8.suffix($0.utf8.count + 1)) }) ?? true
      else { throw refused("its line \(lines.number) is damaged") }
      var source = SourceScan.Source(
        path: item.path, id: item.id, folio: item.folio, root: item.root.map { roots[$0].root })
      source.remote = item.remote
      source.sidecar = item.sidecar
      source.enclosure = item.enclosure
      // The version of a copied source is checked with its storage.
      source.planned = item.remote == nil ? item.version : nil
      sources.append(source)
    }
    guard let head else { throw refused("it is empty") }
    guard sources.count == head.sources else {
      throw refused("it is cut short: \(sources.count) of \(head.sources) sources are there")
    }
    asBooks = head.book
    prefix = head.prefix
    let digits = String(digest, radix: 16)
    name = String(repeating: "0", count: 16 - digits.count) + digits
    scan = SourceScan(
      sources: sources, roots: roots, failures: failures, passedOver: head.passedOver,
      books: books, linkedIDs: linked)
  }
}
