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

  deinit { session.ownership.withLock { $0.end(number) } }

  /// The reader is about to take bytes, and perhaps to wait for them. Throws `busy` when a link has taken the session.
  func beginTaking() throws(AccessoryError) {
    guard session.ownership.withLock({ $0.beginTaking(number) }) else { throw .takenByLink(session.label) }
  }

  /// The reader has what it wanted.
  func endTaking() { session.ownership.withLock { $0.isTaking = false } }
}

/// Who takes what arrives from a session.
struct SessionOwnership: Sendable {
  private enum Owner: Sendable, Equatable {
    case nobody, link
    case reader(UInt64)
  }

  private var owner = Owner.nobody
  private var lastNumber: UInt64 = 0
  /// The reader waits for bytes.
  fileprivate(set) var isTaking = false

  fileprivate mutating func begin() throws(SessionOwnershipError) -> UInt64 {
    switch owner {
    case .link: throw .link
    case .reader: throw .reader
    case .nobody:
      lastNumber += 1
      owner = .reader(lastNumber)
      return lastNumber
    }
  }

  fileprivate mutating func beginForGood() throws(SessionOwnershipError) {
    if owner == .link { throw .link }
    if isTaking { throw .reader }
    owner = .link
  }

  fileprivate mutating func beginTaking(_ number: UInt64) -> Bool {
    guard owner == .reader(number) else { return false }
    isTaking = true
    return true
  }

  fileprivate mutating func end(_ number: UInt64) {
    if owner == .reader(number) { (owner, isTaking) = (.nobody, false) }
  }
}

/// Who has the session already.
private enum SessionOwnershipError: Error {
  case link, reader
}

extension AccessorySession {
  /// Takes the session for a reader. Throws `busy` when somebody else has it.
  func lease() throws(AccessoryError) -> SessionLease {
    do throws(SessionOwnershipError) {
      return SessionLease(
        self, try ownership.withLock { ownership throws(SessionOwnershipError) in try ownership.begin() })
    } catch {
      throw error == .link ? .takenByLink(label) : .takenByReader(label)
    }
  }

  /// Takes the session for a link, which has it until it is closed. From a reader that doesn't wait for bytes it is taken
  /// away. Throws `busy` when a link has it, or a reader waits.
  func takeForGood() throws(AccessoryError) {
    do throws(SessionOwnershipError) {
      try ownership.withLock { ownership throws(SessionOwnershipError) in try ownership.beginForGood() }
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
