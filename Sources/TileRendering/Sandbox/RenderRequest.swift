import TileGeometry
package import TileStorage

/// A complete description of a render for a process without the archive and its path. It contains the task, the facts
/// about the pyramid, and the tiles that are likely to be needed. Their bytes are requested separately.
package struct RenderRequest: Hashable, Sendable {
  /// A tile that is likely to be needed.
  struct Hint: Hashable, Sendable {
    let number: Int
    /// The version of the tile under the archive's generation; nil if the tile does not exist.
    let version: UInt64?
  }

  let task: RenderTask
  let pyramid: Pyramid
  let format: TileFormat
  let generation: UInt64
  /// The coarsest stored level.
  let coarsestLevel: Int
  /// Whether tiles may change while the generation stays.
  let hasTileVersions: Bool
  let hints: [Hint]

  /// The maximum number of hints. Further tiles are requested when they are needed.
  private static let hintLimit = 4096

  package init(_ task: RenderTask, of archive: TileArchive) {
    self.task = task
    pyramid = archive.pyramid
    format = archive.format
    generation = archive.generation
    coarsestLevel = archive.coarsestLevel
    hasTileVersions = archive.hasTileVersions
    var hints: [Hint] = []
    if let (level, rectangle) = task.source(in: archive.pyramid), level >= archive.coarsestLevel {
      let side = archive.pyramid.tileSize
      let columns = rectangle.x / side...(rectangle.x + rectangle.width - 1) / side
      let rows = rectangle.y / side...(rectangle.y + rectangle.height - 1) / side
      if columns.count <= Self.hintLimit / rows.count {
        for row in rows {
          for column in columns {
            guard let number = archive.tileIndex(level: level, column: column, row: row) else { continue }
            hints.append(Hint(number: number, version: archive.version(ofTile: number)))
          }
        }
      }
    }
    self.hints = hints
  }

  init(
    task: RenderTask, pyramid: Pyramid, format: TileFormat, generation: UInt64, coarsestLevel: Int,
    hasTileVersions: Bool, hints: [Hint]
  ) {
    self.task = task
    self.pyramid = pyramid
    self.format = format
    self.generation = generation
    self.coarsestLevel = coarsestLevel
    self.hasTileVersions = hasTileVersions
    self.hints = hints
  }

  /// Renders the picture.
  ///
  /// - Parameter fetch: returns the first of the requested tiles, in their order, at least one.
  package func render(
    by renderer: TileRenderer, until cancellation: Cancellation = Cancellation(),
    fetching fetch: @escaping @Sendable ([Int]) -> [GatheredTile]
  ) throws(RenderError) -> [UInt8] {
    let tiles = GatheredTiles(
      hasTileVersions: hasTileVersions, levels: LevelSet(from: coarsestLevel), fetch: fetch)
    let archive = TileArchive(
      name: "", pyramid: pyramid, format: format, generation: generation, backing: tiles)
    for hint in hints { tiles.expect(hint.number, version: hint.version) }
    tiles.want(hints.map(\.number).filter { !renderer.hasDecoded($0, for: task, of: archive) })
    return try renderer.render(task, of: archive, until: cancellation)
  }
}

/// One tile as it is sent to a renderer.
package enum GatheredTile: Hashable, Sendable {
  case stored([UInt8], version: UInt64)
  /// The program that wrote the archive omitted it.
  case lacking
  /// It is unavailable at present.
  case unreachable
  /// It should exist, but cannot be read.
  case unreadable

  package init(_ number: Int, of archive: TileArchive) {
    switch archive.waitForTile(number) {
    case .here(let bytes, let version): self = .stored(Array(bytes), version: version)
    case .notFound: self = .lacking
    case .pending, .unreachable: self = .unreachable
    case .unreadable: self = .unreadable
    }
  }
}
