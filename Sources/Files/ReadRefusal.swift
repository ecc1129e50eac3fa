import Glibc

/// Returns why this process cannot read a file or look into a folder, with its owner and mode. Nil if it can, or if the
/// file does not exist.
package func readRefusal(_ path: String) -> String? {
  var status = stat()
  guard stat(path, &status) == 0 else {
    return errno == EACCES ? "cannot read \(path): permission denied by a folder above it" : nil
  }
  let isFolder = status.st_mode & S_IFMT == S_IFDIR
  // The attributes are often cached; on a network share, the answer about access is not.
  let isOurs = status.st_uid == geteuid() && status.st_mode & S_IRUSR != 0
  if !isFolder, isOurs || status.st_mode & S_IROTH != 0 { return nil }
  guard access(path, isFolder ? R_OK | X_OK : R_OK) != 0, errno == EACCES else { return nil }
  let mode = String(status.st_mode & 0o7777, radix: 8)
  return "cannot read \(path): permission denied (owner \(userName(status.st_uid)), mode 0\(mode))"
}

/// Returns the name of a user, or the number if no name is known.
private func userName(_ id: uid_t) -> String {
  var (entry, found) = (passwd(), UnsafeMutablePointer<passwd>?.none)
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) { buffer in
    guard let start = buffer.baseAddress, getpwuid_r(id, &entry, start, buffer.count, &found) == 0,
      found != nil, let name = entry.pw_name
    else { return "\(id)" }
    return String(cString: name)
  }
}
