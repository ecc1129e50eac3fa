import Synchronization
import TileStorage
import ZigguratCCurl
import ZigguratConcurrency

/// The thread that reads for a client. Its transfers run in parallel on one multi handle of libcurl.
final class TransferThread: Sendable {
  /// A callback with the result of an attempt.
  typealias Ended = @Sendable (RangeCall, Result<ObjectTail, ObjectError>) -> Void

  private struct Inbox {
    var calls: [(call: RangeCall, at: ContinuousClock.Instant)] = []
    var isStopping = false
  }

  // Other threads may only call curl_multi_wakeup, and only while this object lives.
  private nonisolated(unsafe) let multi: UnsafeMutableRawPointer
  private let inbox = Mutex(Inbox())
  private let settings: ObjectSettings
  private let bucket: BucketName
  private let policy: RequestPolicy

  /// Starts the thread; nil if there is no memory or no thread.
  /// - Parameter ended: called on the thread; must not block.
  init?(
    _ settings: ObjectSettings, _ bucket: BucketName, _ policy: RequestPolicy, _ ended: @escaping Ended
  ) {
    guard EasyHandle() != nil, let multi = curl_multi_init() else { return nil }
    self.multi = multi
    self.settings = settings
    self.bucket = bucket
    self.policy = policy
    ziggurat_curl_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, policy.connections)
    ziggurat_curl_multi_set_long(multi, CURLMOPT_MAXCONNECTS, policy.connections)
    guard StartedThread.detached({ [self] in run(ended) }) else { return nil }
  }

  deinit { curl_multi_cleanup(multi) }

  /// Starts an attempt at the given time, or soon after it.
  /// - Returns: false if the thread ends. Then there is no attempt.
  func submit(_ call: RangeCall, at time: ContinuousClock.Instant) -> Bool {
    let (isTaken, wakes) = inbox.withLock { inbox in
      guard !inbox.isStopping else { return (false, false) }
      inbox.calls.append((call, time))
      return (true, inbox.calls.count == 1)
    }
    // Outside the lock, which the thread needs first. An earlier caller may already have woken it.
    if wakes { curl_multi_wakeup(multi) }
    return isTaken
  }

  /// Ends all transfers as unavailable, and then the thread.
  func stop() {
    inbox.withLock { $0.isStopping = true }
    curl_multi_wakeup(multi)
  }

  private func run(_ ended: Ended) {
    var running: [UnsafeMutableRawPointer: RangeTransfer] = [:]
    var idle: [EasyHandle] = []
    var signed = SignedReads()
    var later: [(call: RangeCall, at: ContinuousClock.Instant)] = []
    while true {
      let (calls, isStopping) = inbox.withLock { inbox in
        defer { inbox.calls.removeAll(keepingCapacity: true) }
        return (inbox.calls, inbox.isStopping)
      }
      later += calls
      if isStopping { break }
      let now = ContinuousClock.now
      var next = ContinuousClock.Instant.now + .seconds(1)
      var waiting: [(call: RangeCall, at: ContinuousClock.Instant)] = []
      for (call, time) in later {
        guard time <= now else {
          waiting.append((call, time))
          next = min(next, time)
          continue
        }
        guard let transfer = begin(call, at: now, &idle, &signed) else {
          ended(call, .failure(.unavailable))
          continue
        }
        running[transfer.handle.raw] = transfer
      }
      later = waiting

      var count: Int32 = 0
      curl_multi_perform(multi, &count)
      var rest: Int32 = 0
      while let message = curl_multi_info_read(multi, &rest) {
        // The message is invalid without its handle.
        let (raw, code) = (message.pointee.easy_handle, message.pointee.data.result)
        guard message.pointee.msg == CURLMSG_DONE, let raw, let transfer = running.removeValue(forKey: raw)
        else {
          continue
        }
        curl_multi_remove_handle(multi, raw)
        let result = transfer.result(code)
        if let version = transfer.call.question.version {
          signed.note(transfer.signed, of: version, isTaken: (try? result.get()) != nil, at: now)
        }
        if transfer.isSignedBefore, case .failure(.refused(let status)) = result, [401, 403].contains(status)
        {
          // By the store's clock, the signature may already be too old: the request is signed again.
          later.append((transfer.call, now))
          next = now
        } else {
          // The caller gets the result before the next attempt is prepared.
          ended(transfer.call, result)
        }
        if idle.count < policy.connections {
          transfer.handle.reset()
          idle.append(transfer.handle)
        }
      }
      let milliseconds = inbox.withLock { $0.calls.isEmpty } ? max(0, (next - .now) / .milliseconds(1)) : 0
      curl_multi_poll(multi, nil, 0, Int32(milliseconds.rounded(.up)), nil)
    }
    for (raw, transfer) in running {
      curl_multi_remove_handle(multi, raw)
      ended(transfer.call, .failure(.unavailable))
    }
    for (call, _) in later { ended(call, .failure(.unavailable)) }
  }

  /// Starts an attempt; nil if the call's deadline has passed, or if there is no memory.
  private func begin(
    _ call: RangeCall, at now: ContinuousClock.Instant, _ idle: inout [EasyHandle],
    _ signed: inout SignedReads
  ) -> RangeTransfer? {
    guard call.deadline > now, let handle = idle.popLast() ?? EasyHandle() else { return nil }
    let transfer = RangeTransfer(call, handle)
    transfer.prepare(
      settings, bucket, call.question.version.flatMap { signed.read(of: $0, at: now) },
      connecting: policy.connecting, within: min(policy.attempt, call.deadline - now))
    guard curl_multi_add_handle(multi, handle.raw) == CURLM_OK else { return nil }
    return transfer
  }
}
