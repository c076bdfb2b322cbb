// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore

// A borrower's requests to the serial line.

extension BridgeService {
  package func onLine<Method: LineMethod>(
    _ call: Method, from caller: Caller
  ) async throws(CallError) -> Method.Reply {
    for attachment in attachments.ordered {
      guard let loan = attachment.lending.loan(meantBy: call.loan, from: caller) else { continue }
      let device = attachment.device.id
      do throws(AccessoryError) {
        return try await loan.withLine(at: attachment.target.address.description) { line throws(AccessoryError) in
          try await call.perform(on: line)
        }
      } catch {
        throw CallError(error, device: device)
      }
    }
    throw CallError(AccessoryError(.notFound, "this loan of the line has ended, or belongs to another client"))
  }
}
