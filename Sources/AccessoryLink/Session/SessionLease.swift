// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The right to take what arrives from a session. One reader has it at a time; it is given back when it is let go. It
/// keeps the session open.
final class SessionLease: Sendable {
  let session: AccessorySession
  private let number: UInt64

  fileprivate init(_ session: AccessorySession, _ number: UInt64) {
    self.session = session
    self.number = number
  }

  deinit { session.tenancy.withLock { $0.end(number) } }

  /// The reader is about to take bytes, and perhaps to wait for them. Throws `busy` when a link has taken the session.
  func beginTaking() throws(AccessoryError) {
    guard session.tenancy.withLock({ $0.beginTaking(number) }) else { throw .takenByLink(session.label) }
  }

  /// The reader has what it wanted.
  func endTaking() { session.tenancy.withLock { $0.isTaking = false } }
}

/// Who takes what arrives from a session.
struct Tenancy: Sendable {
  private enum Tenant: Sendable, Equatable {
    case nobody, link
    case reader(UInt64)
  }

  private var tenant = Tenant.nobody
  private var lastNumber: UInt64 = 0
  /// The reader waits for bytes.
  fileprivate(set) var isTaking = false

  fileprivate mutating func begin() throws(TenancyError) -> UInt64 {
    switch tenant {
    case .link: throw .link
    case .reader: throw .reader
    case .nobody:
      lastNumber += 1
      tenant = .reader(lastNumber)
      return lastNumber
    }
  }

  fileprivate mutating func beginForGood() throws(TenancyError) {
    if tenant == .link { throw .link }
    if isTaking { throw .reader }
    tenant = .link
  }

  fileprivate mutating func beginTaking(_ number: UInt64) -> Bool {
    guard tenant == .reader(number) else { return false }
    isTaking = true
    return true
  }

  fileprivate mutating func end(_ number: UInt64) {
    if tenant == .reader(number) { (tenant, isTaking) = (.nobody, false) }
  }
}

/// Who has the session already.
private enum TenancyError: Error {
  case link, reader
}

extension AccessorySession {
  /// Takes the session for a reader. Throws `busy` when somebody else has it.
  func lease() throws(AccessoryError) -> SessionLease {
    do throws(TenancyError) {
      return SessionLease(self, try tenancy.withLock { tenancy throws(TenancyError) in try tenancy.begin() })
    } catch {
      throw error == .link ? .takenByLink(label) : .takenByReader(label)
    }
  }

  /// Takes the session for a link, which has it until it is closed. From a reader that doesn't wait for bytes it is taken
  /// away. Throws `busy` when a link has it, or a reader waits.
  func takeForGood() throws(AccessoryError) {
    do throws(TenancyError) {
      try tenancy.withLock { tenancy throws(TenancyError) in try tenancy.beginForGood() }
    } catch {
      throw error == .link ? .takenByLink(label) : .takenByReader(label)
    }
    writers.retire()
  }
}

extension AccessoryError {
  static func takenByLink(_ label: String) -> AccessoryError {
    AccessoryError(.busy, "a link has taken the session of \(label): send requests and take events through the link")
  }

  fileprivate static func takenByReader(_ label: String) -> AccessoryError {
    AccessoryError(
      .busy, "somebody reads from the session of \(label) already: end that first, since each byte arrives once")
  }
}
