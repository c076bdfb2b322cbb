// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO
import CommandOutput

/// Opens the accessory that a bridge shares, again and again: borrowed from the service that has it, or opened here.
struct BridgeOpening: Sendable {
  /// What the user called it.
  let text: String?
  let line: LineOptions
  /// Whether clients may change something in it.
  let write: Bool
  /// Whether nothing is sent to it.
  let isReadOnly: Bool

  /// Opens it; gives what it is called, too. Throws what looking for it and opening it throws; `permissionDenied` where what
  /// clients send may change something in it and that isn't allowed.
  func open() async throws -> (
    transport: any Transport, name: String, device: DeviceDocument
  ) {
    if let held = try await HeldDevice.find(text, line, asLine: true) {
      let (_, transport) = try await held.calls.open(write: write && held.accessory.writes != nil)
      return (transport, held.label ?? held.name, DeviceDocument(held.accessory.device, held: held.accessory))
    }
    let target = try await OpenedAccessory.find(text, line, asLine: true)
    var opener = target.opener
    opener.asksToWrite = write
    let transport = isReadOnly ? try await opener.unguardedTransport() : try await opener.transport()
    return (transport, target.label, DeviceDocument(target.device))
  }

  /// Whether it is worth waiting for what failed so.
  static func mayPass(_ error: any Error) -> Bool {
    switch error {
    case let error as AccessoryError: [.notFound, .disconnected, .timedOut, .busy, .ioFailure].contains(error.kind)
    case ResolutionError.noDevices, ResolutionError.noMatch: true
    default: false
    }
  }
}
