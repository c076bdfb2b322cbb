// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink

/// The program that uses accessories: what it shows during waits, and how often it tries to open one.
package protocol OpeningHost: Sendable {
  /// Runs `body`, during which the program waits for `what`, like "waiting for ./acc to answer".
  func during<Result: Sendable, Failure: Error>(
    _ what: String, limit: Duration?, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result
  /// Opens a device, with retries if the program wants them.
  func opening<Opened: Sendable>(
    _ label: String, _ open: () async throws(AccessoryError) -> Opened
  ) async throws(AccessoryError) -> Opened
}

extension OpeningHost {
  /// The default: shows nothing.
  package func during<Result: Sendable, Failure: Error>(
    _ what: String, limit: Duration?, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await body()
  }

  /// The default: tries once.
  package func opening<Opened: Sendable>(
    _ label: String, _ open: () async throws(AccessoryError) -> Opened
  ) async throws(AccessoryError) -> Opened {
    try await open()
  }

  /// Runs `body`, a request to the accessory.
  func answer<Result: Sendable, Failure: Error>(
    of label: String, _ body: () async throws(Failure) -> Result
  ) async throws(Failure) -> Result {
    try await during("waiting for \(label) to answer", limit: nil, body)
  }
}

/// A program that shows nothing and tries once.
struct SilentHost: OpeningHost {}
