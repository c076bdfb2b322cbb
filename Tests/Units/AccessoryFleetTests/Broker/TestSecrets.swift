// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport

/// Certificates and passwords for a broker and its clients, as files in a test's directory.
struct TestSecrets: Sendable {
  private let directory: TemporaryDirectory

  init(_ directory: TemporaryDirectory) { self.directory = directory }

  /// Keys on this curve are made in milliseconds.
  private static let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]

  /// The CA: `ca.pem` and `ca.key`.
  func makeAuthority() async throws {
    try directory.write(Array("subjectAltName=DNS:localhost\n".utf8), to: "names")
    try await run(
      ["openssl", "req", "-x509"] + Self.newKey
        + ["-keyout", "ca.key", "-out", "ca.pem", "-days", "2", "-subj", "/CN=Test CA"])
  }

  /// A certificate that the CA has signed, and its key: `NAME.pem` and `NAME.key`.
  func makeCertificate(_ name: String, commonName: String) async throws {
    try await run(
      ["openssl", "req"] + Self.newKey
        + ["-keyout", "\(name).key", "-out", "\(name).csr", "-subj", "/CN=\(commonName)"])
    try await run([
      "openssl", "x509", "-req", "-in", "\(name).csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-out",
      "\(name).pem", "-days", "2", "-extfile", "names",
    ])
  }

  /// Passwords of users: `password-USER` each, and `users` for the broker.
  func makePasswords(_ users: [String]) async throws {
    var lines = ""
    for user in users {
      try directory.write(Array("secret-\(user)\n".utf8), to: "password-\(user)")
      lines += "\(user):secret-\(user)\n"
    }
    try directory.write(Array(lines.utf8), to: "users")
    try await run(["mosquitto_passwd", "-U", "users"])
  }

  private func run(_ words: [String]) async throws {
    let end = try await Program(words, environment: ["PATH": "/usr/bin:/bin"], directory: directory.path).end()
    guard end.status == 0 else { throw AccessoryError(.ioFailure, "\(words): \(end.errorText)") }
  }
}
