/// The value of a request's state pointer while it holds neither an archive nor a pending answer: its headers
/// were seen.
// An address that nothing has: never read, so safe to share.
nonisolated(unsafe) let headersSeen = UnsafeMutableRawPointer(bitPattern: 1)

/// The object that the request's state holds: a body that is being received, or the answer that its connection is
/// suspended for.
func object(_ state: UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> AnyObject? {
  guard let pointer = state.pointee, pointer != headersSeen else { return nil }
  return Unmanaged<AnyObject>.fromOpaque(pointer).takeUnretainedValue()
}

/// Has the request's state hold that object, which is retained, instead of what it held.
func keep(_ object: UnsafeMutableRawPointer, in state: UnsafeMutablePointer<UnsafeMutableRawPointer?>) {
  let before = state.pointee
  state.pointee = object
  if let before, before != headersSeen { Unmanaged<AnyObject>.fromOpaque(before).release() }
}
