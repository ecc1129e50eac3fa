/// Returns the candidate with the smallest edit distance from `word`, if it is near enough to be the intended one.
package func nearest(_ word: String, _ candidates: [String]) -> String? {
  // A text longer than any name is not a misspelt name, and comparing it would take much time.
  guard word.utf8.count <= 64 else { return nil }
  let best = candidates.map { (distance: editDistance(word, $0), word: $0) }.min { $0.distance < $1.distance }
  guard let best, best.distance <= max(1, word.count / 3), best.distance < word.count else { return nil }
  return best.word
}

/// Returns the number of insertions, deletions, changes and swaps of neighbours between two names. Hyphens and case are
/// ignored.
private func editDistance(_ a: String, _ b: String) -> Int {
  let (a, b) = (Array(a.lowercased().filter { $0 != "-" }), Array(b.lowercased().filter { $0 != "-" }))
  var rows = Array(repeating: Array(0...b.count), count: a.count + 1)
  for i in a.indices {
    rows[i + 1][0] = i + 1
    for j in b.indices {
      var best = min(rows[i][j] + (a[i] == b[j] ? 0 : 1), rows[i][j + 1] + 1, rows[i + 1][j] + 1)
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, rows[i - 1][j - 1] + 1) }
      rows[i + 1][j + 1] = best
    }
  }
  return rows[a.count][b.count]
}
