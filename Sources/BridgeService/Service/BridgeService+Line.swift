// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

// What a borrower asks the line for.

extension BridgeService {
  package func onLine<Method: LineMethod>(
    _ call: Method, from caller: Caller
  ) async throws(CallError) -> Method.Reply {
    let lent = attachments.values.first { $0.loan?.isMeant(by: call.loan, from: caller) == true }
    guard let attachment = lent, let loan = attachment.loan else {
      throw CallError(AccessoryError(.notFound, "there is no such loan: it has ended, or was made to somebody else"))
    }
    let (device, path) = (attachment.device.id, attachment.target.address.description)
    guard let line = loan.line else {
      throw CallError(AccessoryError(.unsupported, "\(path) is on no serial line"), device: device)
    }
    guard loan.requestCount < Loan.requestLimit else {
      let message = "\(loan.requestCount) requests wait for the line of \(path) already"
      throw CallError(AccessoryError(.busy, message), device: device)
    }
    loan.requestCount += 1
    defer { loan.requestCount -= 1 }
    do throws(AccessoryError) {
      return try await call.perform(on: line)
    } catch {
      throw CallError(error, device: device)
    }
  }
}
