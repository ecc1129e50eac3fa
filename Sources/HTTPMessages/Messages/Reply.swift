/// The answer of a handler: a response, or a task that makes it.
///
/// A handler that need not wait returns a response: a task costs more than many responses do.
package enum Reply: Sendable {
  case response(Response)
  case task(PendingResponse)

  /// - Parameters:
  ///   - head: see `PendingResponse.head`.
  ///   - make: the task.
  package static func task(head: Response? = nil, _ make: @escaping @Sendable () async -> Response) -> Reply {
    .task(PendingResponse(head: head, make))
  }

  /// Returns the reply with its response changed.
  package func map(_ change: @escaping @Sendable (Response) -> Response) -> Reply {
    switch self {
    case .response(let response): .response(change(response))
    case .task(let pending): .task(pending.map(change))
    }
  }

  /// Returns the response, after its task if it has one.
  package func response() async -> Response {
    switch self {
    case .response(let response): response
    case .task(let pending): await pending.response()
    }
  }
}

/// A response that a task makes.
package struct PendingResponse: Sendable {
  /// The response without its body, if it is known before the body is made. If the client has this version already, or
  /// wants another one, it is answered without the task.
  package private(set) var head: Response?
  private let make: @Sendable () async -> Response
  /// Kept as a list, because each function around `make` would hold memory for as long as the task is suspended.
  private var changes: [@Sendable (Response) -> Response] = []

  package init(head: Response? = nil, _ make: @escaping @Sendable () async -> Response) {
    self.head = head
    self.make = make
  }

  /// Makes the response. If its task is cancelled because the client is gone, it ends early with any response.
  package func response() async -> Response {
    var response = await make()
    for change in changes { response = change(response) }
    return response
  }

  fileprivate func map(_ change: @escaping @Sendable (Response) -> Response) -> PendingResponse {
    var pending = self
    pending.head = head.map(change)
    pending.changes.append(change)
    return pending
  }
}

extension Reply {
  package static func text(_ status: Int, _ text: String) -> Reply { .response(.text(status, text)) }

  package static func problem(_ status: Int, _ title: String, _ detail: String) -> Reply {
    .response(.problem(status, title, detail))
  }

  package static func problem(_ title: String, _ errors: [InvalidInput]) -> Reply {
    .response(.problem(title, errors))
  }
}
