// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Dispatch

/// Runs `body`, which may block, on a thread of its own, so that the test's tasks go on meanwhile.
public func blocking<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
  let result: Result<Value, any Error> = await withCheckedContinuation { continuation in
    DispatchQueue(label: "test.blocking").async { continuation.resume(returning: Result { try body() }) }
  }
  return try result.get()
}

/// Something did not happen within the generous limit of a test helper.
public struct Hang: Error, CustomStringConvertible {
  /// What was waited for.
  public let description: String
  /// A hang while waiting for `what`.
  public init(_ what: String) { description = "waited in vain for \(what)" }
}

/// Waits until `condition` holds, for facts that the system announces by no event (`/proc`, a process' state); looks
/// every other millisecond. Where there is an event, wait for that: see `Watched`.
public func eventually(
  _ what: @autoclosure () -> String, within limit: Duration = .seconds(20), _ condition: () throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit.patient
  while try !condition() {
    if ContinuousClock.now > end { throw Hang(what()) }
    try await Task.sleep(for: .milliseconds(2))
  }
}

/// Waits until `condition` holds, as the synchronous one does.
public func eventually(
  _ what: @autoclosure () -> String, within limit: Duration = .seconds(20), _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + limit.patient
  while try await !condition() {
    if ContinuousClock.now > end { throw Hang(what()) }
    try await Task.sleep(for: .milliseconds(2))
  }
}
