import PyramidBuilding
import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratTileProtocols
import ZigguratTileRendering
import ZigguratUploading

/// Images that are crops of others, at full resolution. A sandboxed process crops the part from the tiles, and the
/// result is tiled like an upload.
extension UploadProcessor {
  /// The quality of JPEG tiles that are encoded a second time, and of other lossy formats. No loss is visible.
  private static let quality = 90

  func tileCopy(_ copy: CropRequest, for upload: Upload) {
    let path = uploads.file(of: upload)
    do {
      // This server may not have looked up the image yet.
      library.lookup(of: [copy.image])?.wait()
      guard let original = try library.catalogEntry(copy.image) else {
        throw BuildError(path, "the image that it was to be a part of is not there any more")
      }
      // Otherwise its metadata would be missing for good.
      guard !original.entry.isWordless else {
        throw BuildError(path, "the metadata of the image cannot be read at present", isTemporary: true)
      }
      let isCancelled = { @Sendable [stopping] in stopping.isSet || upload.state.isCancelled }
      let options = try cut(copy, of: original.archive, into: path, isCancelled)
      var builder = builder(isCancelled)
      builder.options = options
      builder.hasOwnOptions = true
      builder.allowance = BuildAllowance(pixels: CropRequest.maxPixels)
      let image = try withFreeID(
        upload.state.image, { try reserveFreeID(for: upload) },
        { [builder] image in
          try uploads.assign(image, for: upload)
          try build(upload, SourceScan.Source(path: path, id: image), builder)
        })
      let metadata = original.entry.metadata
      let microns = original.archive.buildRecord?.micronsPerPixel
      let isRewritten = try builder.store.rewrite(id: image) { record, _ in
        var record = record
        // The size of a pixel stays the same, but a rotation by 90° swaps its width and height.
        record.micronsPerPixel = copy.turn % 180 == 0 ? microns : microns?.reversed()
        return ArchiveMetadata(record, own: metadata, effective: metadata)
      }
      guard isRewritten else {
        throw BuildError(path, "its metadata cannot be written at present", isTemporary: true)
      }
      try show(image, of: upload)
      uploads.end(upload, .done, image: image)
    } catch {
      fail(upload, error, path: path)
    }
  }

  /// Writes the part to a file.
  /// - Returns: the options for building its image.
  private func cut(
    _ copy: CropRequest, of archive: TileArchive, into path: String,
    _ isCancelled: @escaping @Sendable () -> Bool
  ) throws -> BuildOptions {
    guard copy.isInside(archive.pyramid.imageSize) else {
      throw BuildError(path, "the image has another size than when the part was chosen")
    }
    var options = BuildOptions()
    options.format = archive.format
    let side = archive.pyramid.tileSize
    if BuildOptions.tileSizes.contains(side), side % 2 == 0 { options.tileSize = side }
    let cancellation = Cancellation(when: isCancelled)
    // The sandboxed process of a large part is not kept, because the next picture is of another image.
    defer { cutter.forget() }
    var bytes: [UInt8]?
    if copy.straightening == 0, JoinedTiles.mayJoin(copy.part, rotated: copy.rotation, of: archive) {
      // Tiles that cannot be joined are rendered instead.
      bytes = try? cutter.render(.joined(copy.part, copy.rotation), of: archive, until: cancellation)
    }
    if bytes != nil { options.fidelity = .lossless } else { options.quality = Self.quality }
    let file = try AtomicFile(destination: path)
    try file.write(bytes ?? drawn(copy, of: archive, path, cancellation))
    try file.publish(mode: 0o600)
    return options
  }

  /// Returns the pixels of the part as a lossless file.
  private func drawn(
    _ copy: CropRequest, of archive: TileArchive, _ path: String, _ cancellation: Cancellation
  ) throws(BuildError) -> [UInt8] {
    var task = RenderTask.viewport(copy.window, devicePixelRatio: 1, .png)
    if copy.straightening == 0, let size = PixelSize(width: copy.width, height: copy.height) {
      var picture = Picture(region: copy.part, size: size, format: .png)
      picture.isMirrored = copy.isFlipped
      picture.rotation = copy.rotation.degrees
      task = .picture(picture)
    }
    do throws(RenderError) { return try cutter.render(task, of: archive, until: cancellation) } catch {
      // The engine's message means nothing to a user, and the engine may also have had too little time.
      let reason = "the part cannot be cut out of the image's tiles"
      throw BuildError(path, reason, isTemporary: error.isTemporary)
    }
  }
}
