// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// The right to read from a session, which one reader has at a time. Releasing the object returns the right. The object
/// retains the session.
final class SessionLease: Sendable {
  let session: AccessorySession
  private let number: UInt64

  fileprivate init(_ session: AccessorySession, _ number: UInt64) {
    self.session = session
    self.number = number
  }

  deinit { session.ownership.withLock { $0.end(number) } }

  /// Call this before taking bytes, or waiting for them. Throws `busy` when a link has taken the session.
  func beginTaking() throws(AccessoryError) {
    guard session.ownership.withLock({ $0.beginTaking(number) }) else { throw .takenByLink(session.label) }
  }

  /// Call this when the reader has taken bytes or stops waiting for them.
  func endTaking() { session.ownership.withLock { $0.isTaking = false } }
}

/// Which consumer reads from a session: none, a reader or a link.
struct SessionOwnership: Sendable {
  private enum Owner: Sendable, Equatable {
    case nobody, link
    case reader(UInt64)
  }

  private var owner = Owner.nobody
  private var lastNumber: UInt64 = 0
  /// Whether the reader is taking bytes or waiting for them.
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

/// Which consumer uses the session already.
private enum SessionOwnershipError: Error {
  case link, reader
}

extension AccessorySession {
  /// Reserves the session for a reader. Throws `busy` when there is another reader or a link.
  func lease() throws(AccessoryError) -> SessionLease {
    do throws(SessionOwnershipError) {
      return SessionLease(
        self, try ownership.withLock { ownership throws(SessionOwnershipError) in try ownership.begin() })
    } catch {
      throw error == .link ? .takenByLink(label) : .takenByReader(label)
    }
  }

  /// Reserves the session for a link until it is closed. A reader that isn't waiting for bytes loses its right. Throws
  /// `busy` when another link uses the session, or a reader is waiting for bytes.
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
    AccessoryError(
      .busy, "the session of \(label) is in use by a link: send requests and receive events through that link")
  }

  fileprivate static func takenByReader(_ label: String) -> AccessoryError {
    AccessoryError(
      .busy, "the session of \(label) already has a reader: end that one first, since each byte arrives once")
  }
}
