// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import CommandOutput

/// Makes the service close an accessory. It opens the accessory again only when that is attached, or plugged in again.
struct Detaching {
  /// The accessory's name as the user typed it.
  let name: String?
  let json: Bool

  func run() async throws {
    guard let held = try await find() else {
      let name = name.map { SafeText.escape($0) } ?? "any accessory"
      if await !Self.isServiceThere() { throw AccessoryError.noService }
      throw AccessoryError(.notFound, "no service has \(name) open: bridge-cli list shows all accessories")
    }
    let device = try await held.detach()
    if json { return Output.json(ChangedDocument(.detached, device)) }
    Output.line("\(SafeText.escape(device.id)) is detached.")
  }

  private static func isServiceThere() async -> Bool {
    for place in ServicePlace.all() where (try? await BridgeClient.connect(to: place)) != nil { return true }
    return false
  }

  /// The accessory to detach, or a line with all accessories on it.
  private func find() async throws -> BridgeDevice? {
    do {
      guard let held = try await Door.finder().entry(DeviceName(name), all: true) else { return nil }
      return held.calls(label: nil)
    } catch let error as ResolutionError where error.unitsOfALine != nil {
      guard let held = try await Door.finder().entry(DeviceName(name), all: true, asLine: true) else { return nil }
      return held.client.device(held.accessory, label: name, isLine: true)
    }
  }
}
