// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import TestSupport

func pattern(_ count: Int) -> [UInt8] { SampleBridge.pattern(count) }

/// A server of `SampleBridge` in a folder of its own.
struct SampleServer {
  let directory: TemporaryDirectory
  let bridge = SampleBridge()
  let server: ControlServer
  let clients: Watched<Int>
  var path: String { directory.path + "/control" }

  init(limits: ControlServer.Limits = ControlServer.Limits()) async throws {
    let directory = try TemporaryDirectory()
    let clients = Watched(0)
    self.directory = directory
    self.clients = clients
    let socket = try ControlSocket.make(at: directory.path + "/control")
    server = try ControlServer(socket, handler: bridge, limits: limits) { count in clients.update { $0 = count } }
  }

  func client() async throws -> ControlClient { try await ControlClient.connect(to: path) }
}
