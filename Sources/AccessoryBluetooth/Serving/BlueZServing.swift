// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// The peripheral role, by BlueZ.
package struct BlueZServing: ServingSession {
  private let server: BlueZServer

  /// Begins a session over the bus at `bus`, by default the system bus, with an adapter of this name, or any one that is on. `tell`
  /// is called on the I/O thread with each event, one at a time, in order. The first event is a `state`, and comes soon.
  package init(
    _ bus: String? = nil, by adapter: BluetoothAdapterName? = nil, io: IOThread = .shared,
    _ tell: @escaping @Sendable (ServingEvent) -> Void
  ) {
    let server = BlueZServer(io, by: adapter, tell)
    self.server = server
    io.post { Task { await server.begin(bus) } }
  }

  package func send(_ command: ServingCommand) { server.io.post { [server] in server.enter(command) { $0.take($1) } } }

  package func notify(_ handle: Int, _ value: [UInt8]) -> Bool {
    guard server.room.take() else { return false }
    server.io.post { [server] in server.enter(value) { $0.notify(handle, $1) } }
    return true
  }

  package func close() { server.io.post { [server] in server.enter { $0.close() } } }
}
