// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import TestSupport

/// A source of devices that come and go as the test says.
final class FakeSource: DeviceSource {
  private struct State: Sendable {
    var devices: [Device] = []
    var subscribers: [AsyncStream<DeviceEvent>.Continuation] = []
  }

  private let state = Locked(State())
  private let error: AccessoryError?

  /// A source with these devices, or one that can't be asked.
  init(_ devices: [Device] = [], error: AccessoryError? = nil) {
    self.error = error
    state.withLock { $0.devices = devices }
  }

  func devices() async throws(AccessoryError) -> [Device] { state.withLock { $0.devices } }

  func events() async throws(AccessoryError) -> AsyncStream<DeviceEvent> {
    if let error { throw error }
    let (stream, continuation) = AsyncStream<DeviceEvent>.makeStream()
    state.withLock { state in
      for device in state.devices { continuation.yield(.added(device)) }
      state.subscribers.append(continuation)
    }
    return stream
  }

  func add(_ device: Device) {
    state.withLock { state in
      state.devices.append(device)
      for subscriber in state.subscribers { subscriber.yield(.added(device)) }
    }
  }

  func remove(_ device: Device) {
    state.withLock { state in
      state.devices.removeAll { $0 == device }
      for subscriber in state.subscribers { subscriber.yield(.removed(device)) }
    }
  }
}

extension Device {
  /// An AF1 accessory at `path`.
  static func af1(at path: String, name: String = "Gadget", serial: String = "G1") -> Device {
    Device(
      .node(path), source: .simulator, driver: "framed", name: name, manufacturer: "Maker", model: "M1",
      serialNumber: serial)
  }
}
