import Synchronization

/// The password of encrypted PDFs, in the sandboxed process that reads one.
package enum PDFPassword {
  private static let current = Mutex<String?>(nil)

  /// Sets the password for the PDFs that this process opens from now on; nil if there is none.
  package static func use(_ password: String?) { current.withLock { $0 = password } }

  static var given: String? { current.withLock { $0 } }

  /// The clause about an encrypted file that cannot be opened.
  static var refusal: String { given == nil ? lacking : wrong }

  private static let lacking =
    "the PDF is encrypted with a password: give it with --pdf-password-file FILE, or remove it, for example with "
    + "'qpdf --decrypt'"
  private static let wrong = "the PDF is encrypted, and the password of --pdf-password-file does not open it"

  /// Whether a clause says that the password is wrong: another one may be given for the same file.
  package static func isWrong(_ reason: String) -> Bool { reason.contains(wrong) }
}
