/// The certificates of authorities by which a store's own is verified, as the AWS tools, curl and OpenSSL name them.
struct TrustedCertificates: Hashable, Sendable {
  /// PEM; nil for the system's (`/etc/ssl/certs/ca-certificates.crt` on Debian).
  let file: String?
  /// A folder of certificates with hashed names, as `openssl rehash` makes them; nil for the system's.
  let folder: String?
}
