import Foundation
import Synchronization
import ZigguratFiles

/// The JSON entries of an open archive, each decoded at most once. An error is kept as well.
final class ArchiveRecords: Sendable {
  private struct Decoded {
    var build: Result<BuildRecord, StorageError>?
    var metadata: Result<ImageMetadata, StorageError>?
  }

  private let decoded = Mutex(Decoded())

  /// - Parameter bytes: the content of the entry.
  func build(_ bytes: UnsafeRawBufferPointer) -> Result<BuildRecord, StorageError> {
    decoded.withLock { decoded in
      if let known = decoded.build { return known }
      let result = Self.decode(BuildRecord.self, bytes, BuildRecord.entryName, .buildRecord)
      decoded.build = result
      return result
    }
  }

  /// - Parameter bytes: the content of the entry.
  func metadata(_ bytes: UnsafeRawBufferPointer) -> Result<ImageMetadata, StorageError> {
    decoded.withLock { decoded in
      if let known = decoded.metadata { return known }
      let result = Self.decode(ImageMetadata.self, bytes, ImageMetadata.entryName, .metadata)
      decoded.metadata = result
      return result
    }
  }

  static func decode<Value: Decodable>(
    _ type: Value.Type, _ bytes: UnsafeRawBufferPointer, _ name: String, _ limit: InputLimit
  ) -> Result<Value, StorageError> {
    do { return .success(try limit.json.decode(type, from: bytes)) } catch {
      let reason = (error as? JSONLimits.ValidationError)?.description ?? "is not a valid record"
      return .failure(StorageError("read the archive", "\(name) \(reason)"))
    }
  }
}

extension TileArchive {
  /// The record of the build that made the archive; nil if it has none or the record cannot be read.
  package var buildRecord: BuildRecord? {
    entry(BuildRecord.entryName).flatMap { try? records.build($0).get() }
  }

  /// The metadata that the source and its XMP sidecar had when the archive was built. All fields are empty if there was
  /// no metadata, it cannot be read, or another program made the archive.
  public var metadata: ImageMetadata {
    entry(ImageMetadata.entryName).flatMap { try? records.metadata($0).get() } ?? ImageMetadata()
  }

  /// The metadata without the sidecar's.
  var ownMetadata: ImageMetadata {
    entry(ImageMetadata.ownEntryName).flatMap {
      try? ArchiveRecords.decode(ImageMetadata.self, $0, ImageMetadata.ownEntryName, .metadata).get()
    } ?? metadata
  }

  /// Errors of entries that are too large or cannot be decoded, one clause each.
  package var recordDefects: [String] {
    var defects = zip?.oversized ?? []
    if let bytes = entry(BuildRecord.entryName), case .failure(let error) = records.build(bytes) {
      defects.append(error.reason)
    }
    if let bytes = entry(ImageMetadata.entryName), case .failure(let error) = records.metadata(bytes) {
      defects.append(error.reason)
    }
    return defects
  }

  /// The maximum memory in bytes that the archive takes while it is open: its index, and its decoded records.
  package var memoryCost: Int {
    let names = [BuildRecord.entryName, ImageMetadata.entryName]
    // Decoded strings and arrays take a few times their text.
    let records = names.reduce(0) { $0 + 4 * (zip?.byteCount(ofEntry: $1) ?? 0) }
    return pyramid.tileCount * TileIndex.placeSize + records
  }
}
