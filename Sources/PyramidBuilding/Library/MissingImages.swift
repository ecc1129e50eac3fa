import Glibc
import Synchronization
package import TileStorage
package import ZigguratFiles

/// Images of a library whose sources are gone from where they were, or are others now: a source that has the very
/// content of one of them is that one under another name.
package final class MissingImages: Sendable {
  /// From what an image was made.
  struct Made: Hashable {
    /// The digest of the source's content.
    let digest: String
    /// The page of a source of several pages, counted from 1; nil for any other source.
    let page: Int?
    /// The role of an associated image of a slide; nil for any other image.
    let associatedAs: String?
  }

  /// A source whose archive was made of other content.
  private struct Changed {
    let source: SourceScan.Source
    let digest: String
    let before: BuildRecord
  }

  private struct State {
    /// Sorted; nil before somebody asks.
    var images: [Made: [ImageID]]?
    /// Sources that have an archive are looked at before others, and those that have changed wait.
    var isLooking = false
    var changed: [Changed] = []
    /// The former ids of archives, by the ids that they have now, or would have.
    var former: [ImageID: ImageID] = [:]
    /// Them, whom nobody else can have been.
    var taken: Set<ImageID> = []
    /// Images that went to the trash because another got their id.
    var replaced: [ImageID] = []
  }

  private let ids: @Sendable () -> [ImageID]
  /// Returns the roots of images, as `SourceRoot.text`.
  private let owners: @Sendable (_ ids: [ImageID]) -> [ImageID: String]
  private let places: [String: SourcePlace]
  private let store: any ArchiveStore
  /// Before an archive gets a name for a moment that is no source's: it came from where the other did.
  private let announce: @Sendable (_ id: ImageID, _ other: ImageID) throws(StorageError) -> Void
  private let state = Mutex(State())

  /// - Parameters:
  ///   - scan: of all the sources of this run.
  ///   - candidates: images that came from the scan's roots, asked for when a source is new.
  ///   - owners: returns the roots from which images came, as `SourceRoot.text`.
  ///   - announce: that an archive which has the second id comes to have the first.
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
      // What a source of that name has as a page may come yet.
      return candidates().filter { id in
        !there.contains(id) && !(id.folder.map(there.contains) ?? false)
      }
    }
  }

  /// The image that was made from this content, nobody's any more; the one whose name is the most like the new one's
  /// where there are several.
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

  /// From here on, until `exchange`, sources that have an archive are looked at.
  func beginLooking() { state.withLock { $0.isLooking = true } }

  /// Whether a source waits until it is known which others have changed: it may be what another one was, and what it was
  /// another.
  func postpones(_ source: SourceScan.Source, _ digest: String, pixels: String?) -> Bool {
    guard state.withLock({ $0.isLooking }), let before = store.buildRecord(ofSoundID: source.id),
      before.sourceDigest != digest, before.page == nil, before.associatedAs == nil,
      // Its words alone are others.
      before.pixelDigest == nil || before.pixelDigest != pixels
    else { return false }
    state.withLock { $0.changed.append(Changed(source: source, digest: digest, before: before)) }
    return true
  }

  /// Gives archives the ids of the sources that have their content now, where sources got each other's names.
  ///
  /// - Parameters:
  ///   - others: sources without an archive, read where one that has changed had their size.
  /// - Returns: the sources that waited.
  ///
  /// An archive whose source got another one's content, and whose own content no source has, goes to the trash with its
  /// words: they would describe another picture.
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
        // A circle that was begun is ended.
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

  /// Archives that get each other's ids.
  private struct Circle {
    let journal: MoveJournal?
    let moves: [MoveJournal.Move]
    var made: [MoveJournal.Move] = []
  }

  /// Ends a circle. If one of its moves failed, the others are undone: no archive keeps an id that is no source's.
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

  /// By sources' ids the archives that were made of what they are now.
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

  /// Whether the source of an image probably lies on a disk that is not mounted: its folder is empty, and was not
  /// changed since the image was built. The folder of a source that was moved away was changed by that.
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
