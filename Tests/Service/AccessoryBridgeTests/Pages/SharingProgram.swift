// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessorySharing

/// A program as the pages of the documentation show it in pieces: it lists, opens, reads, follows, commands and shares. It says each
/// thing that it has found.
struct SharingProgram: Sendable {
  let accessories: Accessories
  let say: @Sendable (String) -> Void

  /// Does all but sharing with the accessory of this name, until it is unplugged.
  func use(_ name: String) async throws(AccessoryError) {
    for known in try await accessories.list() { say("\(known.device.id): \(known.service == nil ? "free" : "held")") }
    let accessory = try await accessories.open(name)
    let news = accessory.news()
    say("battery \(try await accessory.battery().percent ?? -1) %")
    for command in try await accessory.commands() where command.name == "echo" { say(command.form) }
    say("\(try await accessory.perform("echo", ["payload": "0102"]))")
    do throws(AccessoryError) {
      try await accessory.perform("ecko")
    } catch {
      say("\(error.kind)")
    }
    say("used")
    for try await event in news {
      if case .battery(let reading) = event { say("now \(reading.percent ?? -1) %") }
    }
  }

  /// Shares the accessory of this name at a free port until the task is cancelled.
  func share(_ name: String) async throws {
    let hub = SharingHub()
    let endpoint = try await NetworkEndpoint.listen(at: "127.0.0.1", port: 0, for: hub)
    say("port \(endpoint.port)")
    try? await hub.run(
      openShared: {
        let shared = try await accessories.openShared(name)
        var device = SharedDevice(shared.transport, routing: shared.routing)
        (device.isReadOnly, device.session) = (shared.isReadOnly, shared.session)
        say("by \(shared.routing == nil ? "bytes" : "frames")")
        return device
      },
      retry: { error in
        say("\(error)")
        throw error
      })
    await endpoint.close()
    await hub.close()
  }

  /// Documentation/swift.md
  static func serve(_ name: String, of accessories: Accessories) async throws {
    let hub = SharingHub()
    let port = try await NetworkEndpoint.listen(at: "127.0.0.1", port: 7000, for: hub)
    let terminal = try await TerminalEndpoint.open(at: "./tty", for: hub) { print($0) }
    try await hub.run(
      openShared: {
        let shared = try await accessories.openShared(name)
        var device = SharedDevice(shared.transport, routing: shared.routing)
        (device.isReadOnly, device.session) = (shared.isReadOnly, shared.session)
        return device
      },
      retry: { error in
        print(error)  // it isn't there, or was unplugged
        try await Task.sleep(for: .seconds(1))
      })
    await port.close()
    await terminal.close()
  }
}
