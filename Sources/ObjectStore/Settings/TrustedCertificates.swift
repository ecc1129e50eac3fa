/// The certificate authorities that verify a store, as set for the AWS tools, curl and OpenSSL.
struct TrustedCertificates: Hashable, Sendable {
  /// A PEM file; nil for the system's (`/etc/ssl/certs/ca-certificates.crt` on Debian).
  let file: String?
  /// A folder of certificates with hashed names, as `openssl rehash` makes them; nil for the system's.
  let folder: String?
}
