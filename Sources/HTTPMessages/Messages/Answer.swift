/// The answer to a request: a response, or one that is made later.
package enum Answer: Sendable {
  case now(Response)
  case later(Later)

  /// The same answer with its response changed, whenever that comes.
  package func map(_ change: @escaping @Sendable (Response) -> Response) -> Answer {
    switch self {
    case .now(let response): .now(change(response))
    case .later(let later): .later(later.map(change))
    }
  }

  /// Has the answer made and given to the waiter.
  package func give(to waiter: Later.Waiter) {
    switch settled {
    case .now(let response): waiter.take(response)
    case .later(let later): later.begin(waiter)
    }
  }

  /// The same answer, now where what was to be waited for is there already.
  package var settled: Answer {
    guard case .later(let later) = self, let response = later.ready() else { return self }
    return .now(response)
  }
}

extension Answer {
  package static func text(_ status: Int, _ text: String) -> Answer { .now(.text(status, text)) }

  package static func problem(_ status: Int, _ title: String, _ detail: String) -> Answer {
    .now(.problem(status, title, detail))
  }

  package static func problem(_ title: String, _ errors: [InvalidInput]) -> Answer {
    .now(.problem(title, errors))
  }
}
