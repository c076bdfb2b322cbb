// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CommandOutput

/// An accessory whose values are shown, with its first values and its events.
struct FollowedValues: Followed {
  enum Source: Sendable {
    case open(OpenedAccessory, EventStream<AccessoryNews>)
    /// Held by a service.
    case held(HeldDevice, BridgeEvents?)
  }

  let source: Source
  let document: DeviceDocument
  let values: [Read<AccessoryValue>]
  /// What the first values lack; nil where nothing is missing.
  let missing: String?

  /// Opens the accessory or asks the service that holds it. `isToldOf`: whether the accessory's own announcements of
  /// values are wanted.
  static func open(_ name: String?, _ line: LineOptions, isToldOf: Bool) async throws -> FollowedValues {
    if let held = try await HeldDevice.find(name, line) {
      let events = isToldOf ? try await held.calls.events(values: true) : nil
      let reply = try await held.values()
      return FollowedValues(
        source: .held(held, events), document: DeviceDocument(reply.device), values: reply.values,
        missing: reply.missing)
    }
    let opened = try await OpenedAccessory.contact(
      try await OpenedAccessory.find(name, line), needing: .values)
    let news = opened.accessory.news()
    do {
      let values = try await OpenedAccessory.answer(of: opened.accessory.label) { () async throws(AccessoryError) in
        try await opened.accessory.values()
      }
      return FollowedValues(
        source: .open(opened, news), document: DeviceDocument(opened.device),
        values: values.map { Read($0.bounded) }, missing: opened.accessory.missing)
    } catch {
      await opened.accessory.close()
      throw error
    }
  }

  /// Reads the values again.
  func again() async throws -> [AccessoryValue] {
    switch source {
    case .open(let opened, _): try await opened.accessory.values().map(\.bounded)
    case .held(let held, _): try await held.values().values.map(\.value)
    }
  }

  var device: Device {
    switch source {
    case .open(let opened, _): opened.device
    case .held(let held, _): Device(held.accessory.device)
    }
  }

  var servicePath: String? { if case .held(let held, _) = source { held.socketPath } else { nil } }

  func close() async { if case .open(let opened, _) = source { await opened.accessory.close() } }
}
