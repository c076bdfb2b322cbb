// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// The loan to a client that has called `Open`, or `Share` with the access `write`: its secret, and its access to the serial line.
/// Used on the service's actor only.
final class Loan {
  /// Identifies the loan: 128 random bits that only the borrower knows.
  let secret = Hexadecimal.string(UInt64.random(in: 0 ... .max)) + Hexadecimal.string(UInt64.random(in: 0 ... .max))
  /// The user ID of the borrower.
  let user: UInt32
  /// The control of the serial line; nil where there is none.
  var line: (any LineControl)?
  /// The number of requests to the line that haven't ended.
  private var requestCount = 0

  /// The most requests that may wait for the line. They run one after another, and closing waits for them.
  static let requestLimit = 8

  init(to caller: Caller, line: (any LineControl)?) {
    user = caller.peer.user
    self.line = line
  }

  /// Whether `caller` is the borrower, and `secret` is this loan's.
  func isMeant(by secret: String, from caller: Caller) -> Bool {
    caller.peer.user == user && secret == self.secret
  }

  /// Runs `body` with the line's control. Throws `unsupported` where there is no serial line, and `busy` when too many
  /// requests wait.
  func withLine<Value>(
    at path: String, _ body: (any LineControl) async throws(AccessoryError) -> Value
  ) async throws(AccessoryError) -> Value {
    guard let line else { throw AccessoryError(.unsupported, "\(path) has no serial line") }
    guard requestCount < Self.requestLimit else {
      throw AccessoryError(.busy, "\(requestCount) requests are waiting for the line of \(path): try again later")
    }
    requestCount += 1
    defer { requestCount -= 1 }
    return try await body(line)
  }
}
