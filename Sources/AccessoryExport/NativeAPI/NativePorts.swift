// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Where the lines of ports come from.
package protocol NativePorts: Sendable {
  /// The ports as they are, first now and then at each change: always as many, in the same order.
  func changes() async -> AsyncStream<[NativePort]>
  /// Opens the line of a port. Throws `busy` where another program has it, and the other errors of opening.
  func open(_ port: Int) async throws(AccessoryError) -> NativeOpenPort
}

/// The open line of a port.
package struct NativeOpenPort: Sendable {
  package var transport: any Transport
  /// Whether DTR and RTS get their former states back at the end, because others go on using the line. Otherwise they are lowered.
  package var keepsModemLines: Bool

  package init(_ transport: any Transport, keepsModemLines: Bool = false) {
    (self.transport, self.keepsModemLines) = (transport, keepsModemLines)
  }
}

/// What a port tells its server, on the I/O thread.
enum NativePortNews: Sendable {
  case answer(NativePortTopic, NativePortStatus, String)
  case lines(ModemLines, NativePortStatus)
  /// Bytes from the line.
  case data([UInt8])
  /// The client may send again.
  case hasRoom
  /// The line couldn't be opened, so the client doesn't have the port.
  case notOpened
  /// The line is gone, for this reason.
  case gone(String)
}
