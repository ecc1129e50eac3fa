import Glibc
import Synchronization
package import TileStorage
package import ZigguratFiles

/// Images of a library whose sources have disappeared or have other content now. A new source with the same content as
/// one of them is a rename of it.
package final class MissingImages: Sendable {
  /// The source content from which an image was made.
  struct Made: Hashable {
    /// The digest of the source's content.
    let digest: String
    /// The page of a source of several pages, counted from 1; nil for any other source.
    let page: Int?
    /// The role of an associated image of a slide; nil for any other image.
    let associatedAs: String?
  }

  /// A source whose archive was made from other content.
  private struct Changed {
    let source: SourceScan.Source
    let digest: String
    let before: BuildRecord
  }

  private struct State {
    /// Sorted; nil until it is first needed.
    var images: [Made: [ImageID]]?
    /// Whether sources with an archive are being compared. They come before other sources, and the changed ones wait.
    var isLooking = false
    var changed: [Changed] = []
    /// The former ids of archives, by their ids now, or in a dry run by their intended ids.
    var former: [ImageID: ImageID] = [:]
    /// The former ids that are assigned and not available to other sources.
    var taken: Set<ImageID> = []
    /// Images that went to the trash because another got their id.
    var replaced: [ImageID] = []
  }

  private let ids: @Sendable () -> [ImageID]
  /// Returns the roots of images, as `SourceRoot.text`.
  private let owners: @Sendable (_ ids: [ImageID]) -> [ImageID: String]
  private let places: [String: SourcePlace]
  private let store: any ArchiveStore
  /// Called before an archive gets a temporary name that belongs to no source. It has the same origin as its former id.
  private let announce: @Sendable (_ id: ImageID, _ other: ImageID) throws(StorageError) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - scan: the scan of all sources of this run.
  ///   - candidates: returns the images that came from the scan's roots; called when a source is new.
  ///   - owners: returns the roots from which images came, as `SourceRoot.text`.
  ///   - announce: announces that the archive with the second id gets the first id.
  package init(
    of scan: SourceScan, in store: any ArchiveStore, among candidates: @escaping @Sendable () -> [ImageID],
    owners: @escaping @Sendable (_ ids: [ImageID]) -> [ImageID: String],
    announce: @escaping @Sendable (_ id: ImageID, _ other: ImageID) throws(StorageError) -> Void
  ) {
    self.store = store
    self.owners = owners
    self.announce = announce
    places = scan.places
    let sources = scan.sources
    ids = {
      let there = Set(sources.map(\.id))
      // A source with an existing id may still add this image as a page.
      return candidates().filter { id in
        !there.contains(id) && !(id.folder.map(there.contains) ?? false)
      }
    }
  }

  /// Returns an image that was made from this content and has no source any more. Among several, an image with the same
  /// name, or in the same folder, is preferred.
  func take(_ made: Made, for id: ImageID) -> ImageID? {
    state.withLock { state in
      if state.images == nil { state.images = read() }
      state.images?[made]?.removeAll(where: state.taken.contains)
      guard let found = state.images?[made], !found.isEmpty else { return nil }
      let at = found.firstIndex { $0.name == id.name } ?? found.firstIndex { $0.folder == id.folder } ?? 0
      return state.images?[made]?.remove(at: at)
    }
  }

  /// Returns the former id of the image that got this id by `exchange`; nil if there is none.
  func former(of id: ImageID) -> ImageID? { state.withLock { $0.former[id] } }

  /// Returns the images that `exchange` moved to the trash, sorted, once.
  func takeReplaced() -> [ImageID] {
    state.withLock { state in
      defer { state.replaced = [] }
      return state.replaced.sorted()
    }
  }

  /// From now on, until `exchange`, sources with an archive are compared.
  func beginLooking() { state.withLock { $0.isLooking = true } }

  /// Whether a source must wait until all changed sources are known. Sources may have exchanged their names.
  func postpones(_ source: SourceScan.Source, _ digest: String, pixels: String?) -> Bool {
    guard state.withLock({ $0.isLooking }), let before = store.buildRecord(ofSoundID: source.id),
      before.sourceDigest != digest, before.page == nil, before.associatedAs == nil,
      // If the pixels are the same, only its metadata has changed.
      before.pixelDigest == nil || before.pixelDigest != pixels
    else { return false }
    state.withLock { $0.changed.append(Changed(source: source, digest: digest, before: before)) }
    return true
  }

  /// Renames archives to the ids of the sources that have their content now, if sources exchanged names.
  ///
  /// If a source got another one's content, and its former content has no source any more, its archive goes to the
  /// trash with its metadata. The metadata would describe another picture.
  ///
  /// - Parameters:
  ///   - others: sources without an archive. They are read if they have the size that a changed source had.
  /// - Returns: the sources that waited.
  func exchange(
    among others: [SourceScan.Source], isDryRun: Bool, _ isCancelled: () -> Bool
  ) -> [SourceScan.Source] {
    let changed = state.withLock { state in
      state.isLooking = false
      return state.changed
    }
    guard !changed.isEmpty else { return [] }
    var plan = RenamePlan(
      wanted: wanted(by: changed, others, isCancelled), occupied: Set(changed.map(\.source.id)))
    if plan.isEmpty { return changed.map(\.source) }
    let folios = Dictionary(
      (changed.map(\.source) + others).map { ($0.id, $0.folio) }, uniquingKeysWith: { first, _ in first })
    var called: [ImageID: ImageID] = [:]
    var circle: Circle?
    func move(_ old: ImageID, _ new: ImageID, _ pageName: String?) -> Bool {
      isDryRun || (try? store.move(old, to: new, pageName: pageName)) == true
    }
    plan.run(
      { old, new in
        // A cycle that has begun is completed.
        guard circle != nil || !isCancelled(), move(old, new, folios[new] ?? nil) else { return false }
        let former = called[old] ?? old
        state.withLock { state in
          state.former[new] = former
          state.taken.insert(former)
        }
        circle?.made.append(MoveJournal.Move(old, to: new))
        return true
      },
      discard: { id in
        guard !isCancelled(), isDryRun || (try? store.trash([id]))?.ids.isEmpty == true else { return false }
        state.withLock { $0.replaced.append(id) }
        return true
      },
      aside: { moves in
        end(&circle)
        guard !isCancelled(), let last = moves.last, let meanwhile = ImageID("\(last.old)~moving"),
          !store.holds(meanwhile)
        else { return nil }
        let room = MoveJournal.Move(last.old, to: meanwhile)
        let others = moves.dropLast().map { MoveJournal.Move($0.old, to: $0.new) }
        let all = [room] + others + [MoveJournal.Move(meanwhile, to: last.new)]
        do throws(StorageError) {
          circle = Circle(journal: isDryRun ? nil : try store.journal(of: all), moves: all)
          if !isDryRun { try announce(meanwhile, last.old) }
        } catch {
          end(&circle)
          return nil
        }
        guard move(last.old, meanwhile, nil) else {
          end(&circle)
          return nil
        }
        circle?.made.append(room)
        called[meanwhile] = last.old
        return meanwhile
      })
    end(&circle)
    return changed.map(\.source)
  }

  /// Archives that exchange ids in a cycle.
  private struct Circle {
    let journal: MoveJournal?
    let moves: [MoveJournal.Move]
    var made: [MoveJournal.Move] = []
  }

  /// Ends a cycle. If one of its moves failed, the others are undone, so that no archive keeps a temporary id.
  private func end(_ circle: inout Circle?) {
    guard let ended = circle else { return }
    circle = nil
    if ended.journal != nil, ended.made.count < ended.moves.count {
      for move in ended.made.reversed() {
        guard (try? store.move(move.new, to: move.old, pageName: nil)) == true else { break }
        state.withLock { state in
          if let former = state.former.removeValue(forKey: move.new) { state.taken.remove(former) }
        }
      }
    }
    ended.journal?.end()
  }

  /// Returns the archives that were made from the sources' present content, by the ids of the sources.
  private func wanted(
    by changed: [Changed], _ others: [SourceScan.Source], _ isCancelled: () -> Bool
  ) -> [ImageID: ImageID] {
    var free = Dictionary(
      grouping: changed, by: { Made(digest: $0.before.sourceDigest, page: nil, associatedAs: nil) }
    ).mapValues { $0.map(\.source.id).sorted() }
    let gone = state.withLock { state in
      if state.images == nil { state.images = read() }
      return state.images ?? [:]
    }
    free.merge(gone) { $0 + $1 }
    var wanted: [ImageID: ImageID] = [:]
    func want(_ id: ImageID, _ digest: String) {
      let made = Made(digest: digest, page: nil, associatedAs: nil)
      guard let found = free[made], !found.isEmpty else { return }
      wanted[id] = free[made]?.removeFirst()
    }
    for each in changed { want(each.source.id, each.digest) }
    let sizes = Set(changed.map(\.before.sourceBytes))
    for source in others {
      var status = stat()
      guard stat(source.path, &status) == 0, sizes.contains(Int(status.st_size)),
        let file = try? SourceFile(path: source.path, name: source.name),
        let digest = try? file.digests(isCancelled).content
      else { continue }
      want(source.id, digest)
    }
    return wanted
  }

  /// Whether the source of an image is probably on a disk that is not mounted: its folder is empty, and unchanged since
  /// the build. Moving the source away would have changed the folder.
  private func isUnmounted(_ id: ImageID, _ record: BuildRecord, in place: SourcePlace) -> Bool {
    guard let folder = place.emptyFolder(of: id, record), let library = (store as? FolderStore)?.library,
      let emptied = FileIdentity(path: folder), let built = FileIdentity(path: id.archive(in: library))
    else { return false }
    return emptied.modifiedNanoseconds < built.modifiedNanoseconds
  }

  private func read() -> [Made: [ImageID]] {
    var images: [Made: [ImageID]] = [:]
    let ids = ids().sorted()
    let owners = owners(ids)
    for id in ids {
      guard let record = store.buildRecord(ofSoundID: id),
        !(owners[id].flatMap { places[$0] }.map { isUnmounted(id, record, in: $0) } ?? false)
      else { continue }
      let made = Made(
        digest: record.sourceDigest, page: record.page, associatedAs: record.associatedAs)
      images[made, default: []].append(id)
    }
    return images
  }
}
