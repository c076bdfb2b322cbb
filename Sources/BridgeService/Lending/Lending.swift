// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// The state of a loan of an accessory's bytes to a client, from the decision until the return. All units of a line are
/// lent together; the loan belongs to the unit that the client named.
struct Lending {
  /// The borrower as a text for people; nil when the accessory isn't lent.
  private(set) var holder: String?
  /// The loans, after the device was opened for the borrowers: one, or one for each client that shares the device.
  private(set) var loans: [Loan] = []
  /// Closes the borrowed transport.
  private var close: (@Sendable () -> Void)?

  /// Begins a loan to `caller`. The device isn't open for it yet.
  mutating func begin(for caller: Caller) { holder = Self.name(of: caller) }

  /// The name of a borrower, for people.
  static func name(of caller: Caller) -> String {
    caller.peer.process > 0 ? "process \(caller.peer.process)" : "a client"
  }

  /// Begins a loan to several clients that share the device. `names` is a text for people.
  mutating func begin(sharedBy names: String) { holder = names }

  /// Marks a unit as lent together with another unit on its line.
  mutating func begin(with other: Lending) { holder = other.holder }

  /// The device is open for the loan: from now on `caller` may use the line control. `close` ends the loan.
  mutating func opened(
    for caller: Caller, line: (any LineControl)?, close: @escaping @Sendable () -> Void
  ) -> Loan {
    let loan = Loan(to: caller, line: line)
    (loans, self.close) = ([loan], close)
    return loan
  }

  /// The device is open for the clients that share it. `close` ends all their loans.
  mutating func opened(close: @escaping @Sendable () -> Void) { self.close = close }

  /// Adds a loan of a client that shares the device: it may use the line control from now on.
  mutating func add(_ loan: Loan) { loans.append(loan) }

  /// Removes the loan with this secret, whose client has left.
  mutating func removeLoan(_ secret: String) { loans.removeAll { $0.secret == secret } }

  /// Ends the loan. Returns the borrower as a text for people.
  mutating func end() -> String {
    defer { self = Lending() }
    return holder ?? "its client"
  }

  /// Closes the transport. The borrower sees the end of the bytes, and the accessory is then returned.
  func revoke() { close?() }

  /// This loan, if `caller` is its borrower and `secret` is its secret.
  func loan(meantBy secret: String, from caller: Caller) -> Loan? {
    loans.first { $0.isMeant(by: secret, from: caller) }
  }

  /// The error of a call to a lent accessory.
  func refusal(_ attachment: Attachment) -> CallError {
    let message = "\(attachment.target.address) is in use: it is lent to \(holder ?? "another client")"
    return CallError(AccessoryError(.busy, message), device: attachment.device.id, holder: holder)
  }
}
