import TileStorage
package import ZigguratFiles

/// The metadata that visitors wrote about an image of a space, like the XMP sidecar of a plain archive. It is a file of
/// its own, and the space's index contains its one valid generation.
///
/// Layout: the generation, then encrypted the text's length (eight bytes, little-endian), the text, and zeros up to a
/// size class.
enum SealedSidecar {
  static func bytes(_ text: [UInt8], _ generation: Generation, _ keys: SpaceKeys) -> [UInt8] {
    let plain = SizeClass.padded(text, frame: Generation.byteCount + Seal.overhead)
    var sealed = [UInt8](repeating: 0, count: plain.count + Seal.overhead)
    plain.withUnsafeBytes { plain in
      sealed.withUnsafeMutableBytes {
        Seal(keys: keys, generation: generation).close(plain, .sidecar, 0, into: $0)
      }
    }
    return generation.bytes + sealed
  }

  /// Decrypts a sidecar; nil if these keys did not encrypt the bytes as that generation.
  static func text(_ bytes: [UInt8], of record: SpaceIndex.Record, _ keys: SpaceKeys) -> [UInt8]? {
    guard bytes.count == record.bytes, bytes.count > Generation.byteCount else { return nil }
    return bytes.withUnsafeBytes { bytes in
      let generation = Generation(bytes)
      let rest = UnsafeRawBufferPointer(rebasing: bytes[Generation.byteCount...])
      guard generation.text == record.generation,
        let plain = Seal(keys: keys, generation: generation).open(rest, .sidecar, 0)
      else { return nil }
      return SizeClass.text(ofPadded: plain).map(Array.init)
    }
  }
}

extension PrivateSpace {
  /// Returns the sidecar of an image; nil if it has none.
  package func sidecar(ofID id: ImageID) throws(StorageError) -> [UInt8]? {
    guard let entry = try index().entries[id.text] else { return nil }
    return try sidecar(of: entry)
  }

  func sidecar(of entry: SpaceIndex.Entry) throws(StorageError) -> [UInt8]? {
    guard let record = entry.sidecar else { return nil }
    let path = folder.path(record.file)
    guard let bytes = try folder.read(record.file) else { throw StorageError("open \(path)", errno: 2) }
    guard let text = SealedSidecar.text(bytes, of: record, keys) else {
      throw StorageError("open \(path)", "what was written about the picture is damaged, or an older version")
    }
    return text
  }

  /// Returns the files of those images' sidecars that have one.
  package func sidecarFiles() throws(StorageError) -> [ImageID: String] {
    var files: [ImageID: String] = [:]
    for (text, entry) in try index().entries {
      if let id = ImageID(text), let sidecar = entry.sidecar { files[id] = folder.path(sidecar.file) }
    }
    return files
  }

  /// Replaces an image's sidecar by the result of `body`, which gets the old one, empty if there is none. Nil keeps the
  /// old one. No other change of the space takes place meanwhile.
  /// - Returns: false if there is no such image.
  package func changeSidecar(
    ofID id: ImageID, _ body: ([UInt8]) throws(StorageError) -> [UInt8]?
  ) throws(StorageError) -> Bool {
    var isThere = false
    try change { (index) throws(StorageError) in
      guard let entry = index.entries[id.text] else { return nil }
      isThere = true
      guard let text = try body(try sidecar(of: entry) ?? []) else { return nil }
      index.entries[id.text]!.sidecar = try folder.publish(sidecar: text, keys)
      return entry.sidecar.map { [$0.file] } ?? []
    }
    return isThere
  }
}

extension SpaceFolder {
  /// Writes an encrypted sidecar that is not in the index yet.
  func publish(sidecar text: [UInt8], _ keys: SpaceKeys) throws(StorageError) -> SpaceIndex.Record {
    let (name, generation) = (keys.makeName(), Generation.random())
    let bytes = SealedSidecar.bytes(text, generation, keys)
    guard !keys.isWiped else { throw SpaceKeys.locked("write \(path(name))") }
    try replace(name, with: bytes)
    return SpaceIndex.Record(file: name, generation: generation.text, bytes: bytes.count)
  }
}
