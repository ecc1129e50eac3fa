import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratText
import ZigguratUploading

/// An event that changed the content of the library or the rights of a principal.
///
/// For content of a private space, the log contains only the event itself: no id, no name, no size.
enum AuditEvent {
  /// The kind of secret that a login presented.
  enum Credential: String { case token, pairing, password }

  /// A login attempt. A correct password opens a space.
  case login(Credential, isRight: Bool)
  case logout
  /// The last session that had a space open ended.
  case lock
  case edit(image: ImageReference)
  case delete(images: [ImageReference], deletion: String)
  case restore(images: [ImageReference], deletion: String)
  case move(to: String)
  /// An upload started.
  case upload(Upload)
  case cancel(Upload)
  /// An upload ended, successfully or not.
  case uploaded(Upload)

  var name: StaticString {
    switch self {
    case .login: "login"
    case .logout: "logout"
    case .lock: "lock"
    case .edit: "edit"
    case .delete: "delete"
    case .restore: "restore"
    case .move: "move"
    case .upload: "upload"
    case .cancel: "cancel"
    case .uploaded: "uploaded"
    }
  }

  /// Writes the members of the event except its time, client and principal.
  func write(to json: inout JSONWriter) {
    switch self {
    case .logout, .lock: break
    case .login(let credential, let isRight):
      json.member("with", credential.rawValue)
      json.member("ok", isRight)
    case .edit(let image): Self.write([image], to: &json)
    case .delete(let images, let deletion), .restore(let images, let deletion):
      Self.write(images, to: &json)
      if !images.contains(where: \.isPrivate) { json.member("deletion", deletion) }
    case .move(let place): json.member("to", place)
    case .upload(let upload), .cancel(let upload): Self.write(upload, to: &json)
    case .uploaded(let upload):
      let state = upload.state
      json.member("ok", state.stage == .done)
      Self.write(upload, to: &json)
      guard upload.vault == nil else { break }
      if let image = state.image { Self.write([ImageReference(image, in: .library)], to: &json) }
      if let reason = state.reason { json.member("reason", reason) }
    }
  }

  private static func write(_ images: [ImageReference], to json: inout JSONWriter) {
    guard !images.contains(where: \.isPrivate) else { return json.member("private", true) }
    json.key("images")
    json.list { list in for image in images { list.value(image.text) } }
  }

  private static func write(_ upload: Upload, to json: inout JSONWriter) {
    guard upload.vault == nil else { return json.member("private", true) }
    // Only a prefix: the full id grants access to the upload.
    json.member("upload", String(upload.id.prefix(8)))
    json.member("file", upload.folder.isEmpty ? upload.name : upload.folder + "/" + upload.name)
    json.member("bytes", upload.length)
  }
}
