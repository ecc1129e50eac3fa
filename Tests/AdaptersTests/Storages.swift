import Foundation
import TileGeometry
import TileStorage
import ZigguratAdapters
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratRepositorySupport
import ZigguratTestSupport

@testable import ZigguratObjectStore
@testable import ZigguratObjectStoreSupport
@testable import ZigguratPrivateSpaces

/// Images that servers serve, and the builder that writes them.
protocol Storage: Sendable {
  /// Starts a server of the images; there may be several.
  func open() throws -> Server
  func write(_ id: ImageID, version: Int) throws
  func remove(_ id: ImageID) throws
  /// Overwrites the archive of an image.
  /// - Parameter path: of its entry in the repository.
  func damage(_ path: String) throws
  /// Makes all images unreachable, or reachable again.
  func cutOff(_ isCutOff: Bool) throws
}

extension Storage {
  func damage(_ path: String) throws {
    try Data("no archive".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
  }
}

/// A folder of archives.
struct FolderStorage: Storage {
  let root: String
  let watches: Bool
  private var store: FolderStore { FolderStore(library: root) }

  init(root: String, watches: Bool) throws {
    self.root = root
    self.watches = watches
    try FolderStore(library: root).prepare()
  }

  func open() throws -> Server { Server(try FolderRepository(root: root, watches: watches), of: self) }

  func write(_ id: ImageID, version: Int) throws { try VersionedImage.write(id, version, into: store) }

  func remove(_ id: ImageID) throws { try FileManager.default.removeItem(atPath: id.archive(in: root)) }

  func cutOff(_ isCutOff: Bool) throws {
    let away = root + "-away"
    try FileManager.default.moveItem(atPath: isCutOff ? root : away, toPath: isCutOff ? away : root)
  }
}

/// A library in an object store on loopback, as `ObjectImages` of a shared catalog or as an `ObjectSource`.
final class BucketStorage: Storage {
  private let service = FuzzingStore(SplitMix(SplitMix.runSeed))
  private let settings: ObjectSettings
  private let store: S3LibraryWriter
  /// The address of the shared catalog; nil if there is none.
  private let catalog: String?

  init(catalog: String? = nil) throws {
    service.with { $0.pageSizes = 1000...1000 }
    self.catalog = catalog
    settings = try ObjectSettings([
      "AWS_ENDPOINT_URL_S3": service.endpoint, "AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "s",
    ]) { _ in nil }
    store = try Self.library(settings).store()
    try store.prepare()
    if let catalog { _ = try Catalog.migrate(postgreSQL: catalog) }
  }

  deinit { service.stop() }

  private static func library(_ settings: ObjectSettings) throws(StorageError) -> ObjectLibrary {
    let address = ObjectAddress("s3://\(FuzzingStore.bucket)/some/library")!
    let limits = RequestLimits(tries: 2, pause: .milliseconds(10), silence: .seconds(10))
    return try ObjectLibrary(address, settings, limits: limits) { print("stray: \($0)") }
  }

  func open() throws -> Server {
    let library = try Self.library(settings)
    guard let catalog else {
      return Server(try ListRepository(ObjectSource(library, pause: .zero), name: "bucket"), of: self)
    }
    return Server(
      try SharedCatalogRepository(
        ObjectImages(library, pause: .zero), name: "shared", catalog: Catalog(postgreSQL: catalog)), of: self)
  }

  func write(_ id: ImageID, version: Int) throws { try VersionedImage.write(id, version, into: store) }

  func remove(_ id: ImageID) throws { _ = try store.trash([id]) }

  func damage(_ path: String) throws { service.put(Array(path.utf8), Array("no archive".utf8)) }

  func cutOff(_ isCutOff: Bool) throws { service.with { $0.always = isCutOff ? .closed : nil } }
}

/// A private space without a password: only the tests of passwords pay for one.
struct SpaceStorage: Storage {
  private let folder: SpaceFolder
  private let keys = SpaceKeys(spaceKey: .random(KeyDerivation.keyCount))
  private let store: PrivateSpace

  init(library: String) throws {
    folder = SpaceFolder(library: library)
    try folder.make()
    _ = try IndexFiles(folder: folder, keys: keys).write(SpaceIndex())
    store = try PrivateSpace(folder: folder, keys: keys)
  }

  func open() throws -> Server {
    Server(try SpaceLibrary(SpaceSource(space: PrivateSpace(folder: folder, keys: keys))), of: self)
  }

  func write(_ id: ImageID, version: Int) throws { try VersionedImage.write(id, version, into: store) }

  func remove(_ id: ImageID) throws { try store.remove(id: id) }

  func cutOff(_ isCutOff: Bool) throws {
    let away = folder.path + "-away"
    try FileManager.default.moveItem(
      atPath: isCutOff ? folder.path : away, toPath: isCutOff ? away : folder.path)
  }
}

/// Archives in memory, which tests of other targets use in place of a storage.
struct MemoryStorage: Storage {
  private let repository: InMemoryRepository

  init() throws { repository = try InMemoryRepository() }

  func open() -> Server { Server(repository, of: self) }

  func write(_ id: ImageID, version: Int) throws {
    try repository.add(
      TileArchive(inMemory: VersionedImage.pyramid) { VersionedImage.tile(id, version, $0) }, as: id)
  }

  func remove(_ id: ImageID) throws { try repository.remove(id) }

  func cutOff(_ isCutOff: Bool) {}
}

/// The implementations of `ImageRepository`.
enum StorageKind: CaseIterable {
  case folder, watchedFolder, objectStore, sharedCatalog, privateSpace, memory

  static let editable: [StorageKind] = [.folder, .watchedFolder, .sharedCatalog, .privateSpace]
  static let real: [StorageKind] = editable + [.objectStore]

  /// - Parameter folder: of the test.
  func storage(in folder: TemporaryFolder) throws -> any Storage {
    switch self {
    case .folder: try FolderStorage(root: folder("library"), watches: false)
    case .watchedFolder: try FolderStorage(root: folder("library"), watches: true)
    case .objectStore: try BucketStorage()
    case .sharedCatalog:
      try BucketStorage(
        catalog: PostgreSQLServer.shared.get().schema((folder.path as NSString).lastPathComponent))
    case .privateSpace: try SpaceStorage(library: folder("library"))
    case .memory: try MemoryStorage()
    }
  }
}
