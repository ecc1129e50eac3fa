import TileGeometry
package import TileStorage

/// A render that is described whole, so that who carries it out needs neither the archive nor its path: the task, what
/// has to be known of the pyramid, and which tiles are likely to be wanted. Their bytes are asked for.
package struct RenderRequest: Hashable, Sendable {
  /// A tile that is likely to be wanted.
  struct Hint: Hashable, Sendable {
    let number: Int
    /// What tells this version of it from others; nil where there is none.
    let stamp: UInt64?
  }

  let task: RenderTask
  let pyramid: Pyramid
  let format: TileFormat
  let generation: UInt64
  /// Coarser levels are not stored.
  let coarsestLevel: Int
  /// Tiles may change while the generation stays.
  let hasStamps: Bool
  let hints: [Hint]

  /// More than these are asked for as they are needed.
  private static let hintLimit = 4096

  package init(_ task: RenderTask, of archive: TileArchive) {
    self.task = task
    pyramid = archive.pyramid
    format = archive.format
    generation = archive.generation
    coarsestLevel = archive.coarsestLevel
    hasStamps = archive.hasStamps
    var hints: [Hint] = []
    if let (level, rectangle) = task.source(in: archive.pyramid), level >= archive.coarsestLevel {
      let side = archive.pyramid.tileSize
      let columns = rectangle.x / side...(rectangle.x + rectangle.width - 1) / side
      let rows = rectangle.y / side...(rectangle.y + rectangle.height - 1) / side
      if columns.count <= Self.hintLimit / rows.count {
        for row in rows {
          for column in columns {
            guard let number = archive.tileIndex(level: level, column: column, row: row) else { continue }
            hints.append(Hint(number: number, stamp: archive.stamp(ofTile: number)))
          }
        }
      }
    }
    self.hints = hints
  }

  init(
    task: RenderTask, pyramid: Pyramid, format: TileFormat, generation: UInt64, coarsestLevel: Int,
    hasStamps: Bool, hints: [Hint]
  ) {
    self.task = task
    self.pyramid = pyramid
    self.format = format
    self.generation = generation
    self.coarsestLevel = coarsestLevel
    self.hasStamps = hasStamps
    self.hints = hints
  }

  /// Carries it out.
  ///
  /// - Parameter fetch: gives the first of the tiles that are asked for, in their order, at least one.
  package func render(
    by renderer: TileRenderer, until cancellation: Cancellation = Cancellation(),
    fetching fetch: @escaping @Sendable ([Int]) -> [GatheredTile]
  ) throws(RenderError) -> [UInt8] {
    let tiles = GatheredTiles(hasStamps: hasStamps, levels: LevelSet(from: coarsestLevel), fetch: fetch)
    let archive = TileArchive(
      name: "", pyramid: pyramid, format: format, generation: generation, backing: tiles)
    for hint in hints { tiles.expect(hint.number, stamp: hint.stamp) }
    tiles.want(hints.map(\.number).filter { !renderer.hasDecoded($0, for: task, of: archive) })
    return try renderer.render(task, of: archive, until: cancellation)
  }
}

/// One tile as it is handed to who renders.
package enum GatheredTile: Hashable, Sendable {
  case stored([UInt8], stamp: UInt64)
  /// Left out by whoever wrote the archive.
  case lacking
  /// It is not available at present.
  case unreachable
  /// There ought to be one; it cannot be read.
  case unreadable

  package init(_ number: Int, of archive: TileArchive) {
    switch archive.awaited(number) {
    case .here(let bytes, let stamp): self = .stored(Array(bytes), stamp: stamp)
    case .notThere: self = .lacking
    case .pending, .unreachable: self = .unreachable
    case .unreadable: self = .unreadable
    }
  }
}
