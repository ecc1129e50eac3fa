/// A response that somebody makes meanwhile: a render, a question to the catalog, a fetch.
///
/// The sender of answers begins it, and is given the response once.
package struct Later: Sendable {
  /// A client that waits for a response.
  package struct Waiter: Sendable {
    /// False once the client is gone: nobody need go on for it.
    package let isThere: @Sendable () -> Bool
    /// Asks the same question again; nil for who cannot. Called instead of `take`, once, by any thread: where an answer is
    /// found at once that takes longer to be made with words. Wakes somebody and does nothing else.
    package let askAgain: (@Sendable () -> Void)?
    /// Called once, by any thread.
    package let take: @Sendable (Response) -> Void

    package init(
      isThere: @escaping @Sendable () -> Bool = { true }, askAgain: (@Sendable () -> Void)? = nil,
      take: @escaping @Sendable (Response) -> Void
    ) {
      self.isThere = isThere
      self.askAgain = askAgain
      self.take = take
    }
  }

  /// The response without its body, if it is known before: for a client that has this version already, or wants
  /// another one, nothing needs to be made.
  package let promised: Response?
  private let kept: @Sendable () -> Response?
  private let make: @Sendable (Waiter) -> Void

  /// - Parameters:
  ///   - kept: gives the response where it need not be made.
  ///   - make: has it made and given to the waiter.
  package init(
    promised: Response? = nil, kept: @escaping @Sendable () -> Response? = { nil },
    make: @escaping @Sendable (Waiter) -> Void
  ) {
    self.promised = promised
    self.kept = kept
    self.make = make
  }

  /// The response, where it is there already.
  package func ready() -> Response? { kept() }

  /// Has the response made; the waiter may be given it before this returns.
  package func begin(_ waiter: Waiter) { make(waiter) }

  func map(_ change: @escaping @Sendable (Response) -> Response) -> Later {
    Later(
      promised: promised.map(change), kept: { [kept] in kept().map(change) },
      make: { [make] waiter in
        make(Waiter(isThere: waiter.isThere, askAgain: waiter.askAgain) { waiter.take(change($0)) })
      })
  }
}
