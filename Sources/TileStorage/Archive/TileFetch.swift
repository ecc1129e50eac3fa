import ZigguratConcurrency

/// A tile of an archive that is not in memory. It is fetched for the first caller that waits for it.
struct TileFetch: Pending {
  let backing: any TileBacking
  let number: Int

  func whenComplete(_ body: @escaping @Sendable () -> Void) {
    guard case .pending(let pending) = backing.tile(number) else { return body() }
    pending.whenComplete(body)
  }
}
