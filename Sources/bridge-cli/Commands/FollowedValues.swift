// SPDX-License-Identifier: Apache-2.0

import AccessoryBridge
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import CommandOutput
import Console

/// An accessory whose values are shown, with its first values and its events.
struct FollowedValues: Followed {
  enum Source: Sendable {
    case open(OpenedAccessory, EventStream<AccessoryNews>)
    /// Held by a service.
    case held(HeldDevice, BridgeEvents?)
  }

  let source: Source
  let document: DeviceDocument
  let values: [Bridge.MeasuredValue]

  /// Opens the accessory or asks the service that holds it. `isToldOf`: whether the accessory's own announcements of
  /// values are wanted.
  static func open(_ name: String?, _ line: LineOptions, isToldOf: Bool) async throws -> FollowedValues {
    if let held = try await HeldDevice.find(name, line) {
      let events = isToldOf ? try await held.calls.events(values: true) : nil
      let reply = try await held.values()
      return FollowedValues(
        source: .held(held, events), document: DeviceDocument(reply.device), values: reply.values)
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
        values: values.map { Bridge.MeasuredValue($0.bounded) })
    } catch {
      await opened.accessory.close()
      throw error
    }
  }

  /// Reads the values again.
  func again() async throws -> [AccessoryValue] {
    switch source {
    case .open(let opened, _): try await opened.accessory.values().map(\.bounded)
    case .held(let held, _): try await held.values().values.map(\.reading)
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

/// The values that have been shown, so that later only changes are shown.
final class ShownValues: Sendable {
  private struct State: Sendable {
    var device: DeviceDocument?
    var last = ValuesReading()
  }

  private let json: Bool
  /// The names of the values to show; all values where this is empty.
  private let names: [String]
  private let state = Locked(State())

  init(json: Bool, names: [String]) { (self.json, self.names) = (json, names) }

  private func isWanted(_ name: String) -> Bool { names.isEmpty || names.contains(name) }

  /// Shows the values of an accessory that was just opened. Throws when a wanted name isn't among them, unless more
  /// values may follow (`isComplete` is false).
  func show(_ values: [Bridge.MeasuredValue], of device: DeviceDocument, isComplete: Bool) throws {
    let last = state.withLock { state in
      state = State(device: device)
      state.last.take(values.map(\.reading), at: .now)
      return state.last
    }
    if isComplete, let missing = names.first(where: { last[$0] == nil }) {
      let all =
        values.isEmpty ? "there are none" : "there are " + values.map(\.name).joined(separator: ", ")
      throw UsageError("there is no value \(missing): \(all)")
    }
    let wanted = values.filter { isWanted($0.name) }
    if json { return print(wanted) }
    if !wanted.isEmpty { MeasurementView.table(wanted, columns: Output.columns).forEach(Output.line) }
  }

  /// Shows the values that differ from those shown last.
  func showChanges(_ values: [AccessoryValue]) {
    let (changed, width) = state.withLock { state in
      let changed = state.last.take(values, at: .now).filter { isWanted($0.name) }
      return (changed, state.last.values.map { TextWidth.of(MeasurementView.name($0.name)) }.max() ?? 0)
    }
    guard !changed.isEmpty else { return }
    if json { return print(changed.map { Bridge.MeasuredValue($0) }) }
    for value in changed { Output.wrapped(MeasurementView.line(value, width: width), indent: 2) }
  }

  private func print(_ values: [Bridge.MeasuredValue]) {
    guard let device = state.withLock({ $0.device }) else { return }
    Output.json(ValuesDocument(device, values))
  }
}
