// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// The loan of a client that has called `Open`: its secret and its access to the line. Used on the service's actor
/// only.
final class Loan {
  /// The secret that identifies the loan: 128 random bits that only the borrower knows.
  let secret = Hexadecimal.string(UInt64.random(in: 0 ... .max)) + Hexadecimal.string(UInt64.random(in: 0 ... .max))
  /// The user who has borrowed it.
  let user: UInt32
  /// The line beside the bytes; nil where there is none.
  var line: (any LineControl)?
  /// Requests that the line has not answered.
  private var requestCount = 0

  /// Requests that may wait for the line at a time. They are made one after another, and closing waits for them.
  static let requestLimit = 8

  /// A loan to `caller`.
  init(to caller: Caller, line: (any LineControl)?) {
    user = caller.peer.user
    self.line = line
  }

  /// Whether `caller` means this one, and may.
  func isMeant(by secret: String, from caller: Caller) -> Bool {
    caller.peer.user == user && secret == self.secret
  }

  /// Runs `body` with the line at `path`. Throws `unsupported` where there is none, `busy` when too many requests wait.
  func withLine<Value>(
    at path: String, _ body: (any LineControl) async throws(AccessoryError) -> Value
  ) async throws(AccessoryError) -> Value {
    guard let line else { throw AccessoryError(.unsupported, "\(path) is on no serial line") }
    guard requestCount < Self.requestLimit else {
      throw AccessoryError(.busy, "\(requestCount) requests wait for the line of \(path) already")
    }
    requestCount += 1
    defer { requestCount -= 1 }
    return try await body(line)
  }
}
