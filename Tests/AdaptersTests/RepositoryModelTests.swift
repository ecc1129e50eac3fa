import Testing
import TileStorage
import ZigguratConcurrency
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratMetadata
import ZigguratTestSupport

/// Random changes of a repository, against a dictionary. `SEED` repeats a run.
@Suite struct RepositoryModelTests {
  private struct Image: Hashable {
    var version: Int
    var title: String?
  }

  /// The expected state.
  private struct Model: Equatable {
    var images: [ImageID: Image] = [:]
    /// Deleted images, by the id of the deletion.
    var deletions: [String: [ImageID: Image]] = [:]
  }

  private static let ids: [ImageID] = ["a", "A", "b/1", "b/2", "b/10", "é", "e\u{301}", "c d%", "'\"\\"]
  private static let operations = 200

  /// Returns the ids of a test. The index of a space holds one of two ids that differ by their Unicode form alone.
  private static func ids(_ kind: StorageKind) -> [ImageID] {
    kind == .privateSpace ? ids.filter { $0 != "e\u{301}" } : ids
  }

  private let folder = try! TemporaryFolder()

  @Test(arguments: StorageKind.allCases)
  func `a repository holds what was written and not removed`(kind: StorageKind) throws {
    print("repository model of \(kind): SEED=\(SplitMix.runSeed)")
    var random = SplitMix(SplitMix.runSeed)
    let storage = try kind.storage(in: folder)
    let server = try storage.open()
    var model = Model()
    var reported = (mark: RemovalMark(), before: Set<ImageID>())
    try server.repository.removals(since: &reported.mark) { _ in }
    // As the background tasks of a server do when it starts.
    try server.update()
    for number in 1...Self.operations {
      let place = "\(kind), operation \(number), seed \(SplitMix.runSeed)"
      try change(&model, &random, number, storage, server, kind, place)
      try server.update()
      guard number % 10 == 0 else { continue }
      var difference: String?
      let latest = ContinuousClock.now + .seconds(60)
      repeat {
        difference = try Self.difference(model, Self.ids(kind), server)
        if difference != nil { OneShotEvent().wait(upTo: 0.05) }
      } while difference != nil && .now < latest
      try #require(difference == nil, "\(difference ?? ""), \(place)")
      try checkRemovals(model, server, &reported, kind, place)
    }
  }

  private func change(
    _ model: inout Model, _ random: inout SplitMix, _ number: Int, _ storage: any Storage, _ server: Server,
    _ kind: StorageKind, _ place: String
  ) throws {
    let ids = Self.ids(kind)
    let isReadOnly = !StorageKind.editable.contains(kind)
    let id = random.pick(ids)
    let comment = Comment(rawValue: place)
    switch random.below(10) {
    case 0..<4:
      try storage.write(id, version: number)
      // The metadata of visitors belongs to the id.
      model.images[id] = Image(version: number, title: model.images[id]?.title)
    case 4:
      // A builder keeps no metadata of visitors, and where it goes depends on the storage.
      guard let image = model.images[id], image.title == nil else { return }
      try storage.remove(id)
      model.images[id] = nil
    case 5..<7:
      let (title, isCurrent) = ("title \(number)", !random.sometimes(4))
      do throws(StorageError) {
        let outcome = try server.edit(id, title: title) { isCurrent }
        let expected: LibraryEditor.Outcome =
          model.images[id] == nil ? .notFound : isCurrent ? .done : .changedMeanwhile
        #expect(outcome == expected, comment)
        if isCurrent { model.images[id]?.title = title }
      } catch { #expect(isReadOnly && error == .libraryIsReadOnly, "\(comment): \(error)") }
    case 7:
      let chosen = Set((0...random.below(3)).map { _ in random.pick(ids) })
      let (deletion, refused) = try server.trash.delete(chosen.sorted())
      let gone = isReadOnly ? [:] : model.images.filter { chosen.contains($0.key) }
      #expect(Set(deletion?.images.map(\.id) ?? []) == Set(gone.keys), comment)
      #expect(Set(refused) == chosen.subtracting(gone.keys), comment)
      for id in gone.keys { model.images[id] = nil }
      if let deletion { model.deletions[deletion.id] = gone }
    case 8:
      guard !model.deletions.isEmpty else { return }
      let name = random.pick(model.deletions.keys.sorted())
      let back = model.deletions[name]!.filter { model.images[$0.key] == nil }
      let left = model.deletions[name]!.filter { back[$0.key] == nil }
      let result = try server.trash.restore(name)
      #expect(Set(result?.restored ?? []) == Set(back.keys), comment)
      #expect(Set(result?.conflicts ?? []) == Set(left.keys), comment)
      model.images.merge(back) { _, restored in restored }
      model.deletions[name] = left.isEmpty ? nil : left
    default: server.repository.reload()
    }
  }

  /// Returns the first difference between a repository and its model.
  private static func difference(_ model: Model, _ ids: [ImageID], _ server: Server) throws -> String? {
    for id in ids {
      let content = server.content(id)
      let expected: VersionedImage.Content = model.images[id].map { .version($0.version) } ?? .missing
      guard content == expected else { return "'\(id)' is \(content), not \(expected)" }
      let title = try server.title(id)
      guard title == model.images[id]?.title else { return "the title of '\(id)' is \(title ?? "missing")" }
    }
    let listed = try server.listed()
    guard listed.map(\.id) == model.images.keys.sorted() else { return "the list is \(listed.map(\.id))" }
    for (id, title) in listed where title != model.images[id]?.title {
      return "'\(id)' is listed as \(title ?? "untitled")"
    }
    guard server.repository.counted() == model.images.count else {
      return "\(server.repository.counted()) images"
    }
    let deletions = try server.trash.deletions().map { ($0.id, Set($0.images.map(\.id))) }
    guard
      Dictionary(deletions, uniquingKeysWith: { one, _ in one })
        == model.deletions.mapValues({ Set($0.keys) })
    else { return "the deletions are \(deletions)" }
    return nil
  }

  /// Each image that has gone since the last look is reported once; images that came and went meanwhile may be. A shared
  /// catalog reports also images that have an id again.
  private func checkRemovals(
    _ model: Model, _ server: Server, _ reported: inout (mark: RemovalMark, before: Set<ImageID>),
    _ kind: StorageKind, _ place: String
  ) throws {
    var removed: [ImageID] = []
    for _ in 0..<2 { try server.repository.removals(since: &reported.mark) { removed += $0 } }
    let now = Set(model.images.keys)
    #expect(Set(removed).isSuperset(of: reported.before.subtracting(now)), "\(place)")
    if kind != .sharedCatalog {
      #expect(Set(removed).isDisjoint(with: now), "\(place)")
      #expect(removed.count == Set(removed).count, "\(place)")
    }
    reported.before = now
  }
}
