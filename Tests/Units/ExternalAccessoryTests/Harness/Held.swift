// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import BridgeService
import Logging
import TestSupport

/// A service in this process, with a socket of its own.
final class Held: Sendable {
  let service: BridgeService
  let directory: TemporaryDirectory
  private let server = Locked<ControlServer?>(nil)
  var place: String { directory.path + "/bridge.socket" }

  init() throws {
    directory = try TemporaryDirectory()
    var configuration = ServiceConfiguration(
      information: ServiceInformation(vendor: "Tests", product: "Held", version: "1", url: "https://example.org/"))
    configuration.reconnect = .init(tries: .off)
    configuration.retry = .init(tries: .off)
    var log = Logger(label: "held")
    log.logLevel = .critical
    service = BridgeService(configuration, profiles: .builtIn, drivers: .builtIn, log: log)
  }

  func listen() throws {
    let service = service
    let made = try ControlServer(try ControlSocket.make(at: place), handler: service) { service.noteClients($0) }
    server.withLock { $0 = made }
  }

  func endListening() async { await server.withLock { $0 }?.close() }

  func end() async {
    await endListening()
    await service.close()
  }
}
