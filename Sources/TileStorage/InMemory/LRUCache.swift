/// An LRU cache of values by key, bounded by their total weight. The least recently used value is evicted first.
package struct LRUCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Node {
    let key: Key
    let value: Value
    let weight: Int
    var newer: Int
    var older: Int
  }

  package let limit: Int
  package private(set) var weight = 0
  private var places: [Key: Int] = [:]
  private var nodes: [Node?] = []
  private var free: [Int] = []
  private var newest = -1
  private var oldest = -1

  /// - Parameter limit: the maximum of all weights together; a heavier value is not kept.
  package init(limit: Int) { self.limit = limit }

  package var count: Int { places.count }

  /// Returns the value, which then counts as the most recently used.
  package mutating func value(for key: Key) -> Value? {
    guard let place = places[key], let node = nodes[place] else { return nil }
    if place != newest {
      unlink(place)
      link(place)
    }
    return node.value
  }

  /// Stores the value; an older one of the same key is replaced.
  package mutating func insert(_ value: Value, for key: Key, weight: Int) {
    if let place = places[key] { remove(at: place) }
    guard weight <= limit else { return }
    while self.weight + weight > limit, oldest >= 0 { remove(at: oldest) }
    let node = Node(key: key, value: value, weight: weight, newer: -1, older: -1)
    let place: Int
    if let reused = free.popLast() {
      place = reused
      nodes[place] = node
    } else {
      place = nodes.count
      nodes.append(node)
    }
    places[key] = place
    self.weight += weight
    link(place)
  }

  package mutating func removeAll() { self = LRUCache(limit: limit) }

  package mutating func remove(_ key: Key) {
    if let place = places[key] { remove(at: place) }
  }

  private mutating func remove(at place: Int) {
    guard let node = nodes[place] else { return }
    unlink(place)
    places[node.key] = nil
    weight -= node.weight
    nodes[place] = nil
    free.append(place)
  }

  private mutating func unlink(_ place: Int) {
    guard let node = nodes[place] else { return }
    if node.newer >= 0 { nodes[node.newer]!.older = node.older } else { newest = node.older }
    if node.older >= 0 { nodes[node.older]!.newer = node.newer } else { oldest = node.newer }
  }

  private mutating func link(_ place: Int) {
    nodes[place]!.newer = -1
    nodes[place]!.older = newest
    if newest >= 0 { nodes[newest]!.newer = place } else { oldest = place }
    newest = place
  }
}
