// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// The loan of an accessory's bytes to a client, from the decision until they are given back. All units of a line are
/// lent together; the one that was asked for has the loan.
struct Lending {
  /// Who has it, in words; nil while nobody has.
  private(set) var holder: String?
  /// What its holder has borrowed, once the device is opened for it.
  private(set) var loan: Loan?
  /// Ends the loan.
  private var close: (@Sendable () -> Void)?

  /// It is lent to `caller`, as soon as it is opened for that.
  mutating func begin(for caller: Caller) {
    holder = caller.peer.process > 0 ? "process \(caller.peer.process)" : "a client"
  }

  /// It is lent with another one, whose line it is on.
  mutating func begin(with other: Lending) { holder = other.holder }

  /// It is opened: from here on `caller` may ask the line, and `close` ends that.
  mutating func opened(
    for caller: Caller, line: (any LineControl)?, close: @escaping @Sendable () -> Void
  ) -> Loan {
    let loan = Loan(to: caller, line: line)
    (self.loan, self.close) = (loan, close)
    return loan
  }

  /// It is given back. Returns who had it, in words.
  mutating func end() -> String {
    defer { self = Lending() }
    return holder ?? "its client"
  }

  /// Ends the loan, which its holder sees as the end of the bytes; it is given back then.
  func revoke() { close?() }

  /// The loan that `caller` means by this secret, where it is this one.
  func loan(meantBy secret: String, from caller: Caller) -> Loan? {
    loan?.isMeant(by: secret, from: caller) == true ? loan : nil
  }

  /// The error of a call for an accessory that somebody has.
  func refusal(_ attachment: Attachment) -> CallError {
    let message = "\(attachment.target.address) is lent\(holder.map { " to \($0)" } ?? "")"
    return CallError(AccessoryError(.busy, message), device: attachment.device.id, holder: holder)
  }
}
