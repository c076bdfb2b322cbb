// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The computer's radio, by BlueZ.
package struct BlueZRadio: Radio {
  private let bus: String?
  private let adapter: BluetoothAdapterName?
  private let io: IOThread

  /// Uses the bus at `bus`, by default the system bus, and the adapter of this name, or any adapter.
  package init(_ bus: String? = nil, by adapter: BluetoothAdapterName? = nil, io: IOThread = .shared) {
    (self.bus, self.adapter, self.io) = (bus, adapter, io)
  }

  package func begin(_ tell: @escaping @Sendable (RadioEvent) -> Void) -> any RadioSession {
    let central = BlueZCentral(io, by: adapter, tell)
    io.post { [bus] in Task { await central.begin(bus) } }
    return Session(central: central)
  }

  package func beginServing(_ tell: @escaping @Sendable (ServingEvent) -> Void) -> any ServingSession {
    BlueZServing(bus, by: adapter, io: io, tell)
  }

  private struct Session: RadioSession {
    let central: BlueZCentral

    var known: [RadioKnown] { central.known }
    func send(_ command: RadioCommand) { central.io.post { central.enter(command) { $0.take($1) } } }
    func close() { central.io.post { central.enter { $0.close() } } }
  }
}
