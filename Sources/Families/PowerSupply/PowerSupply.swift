// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers

/// A battery or a charger that the kernel knows: the `power-supply` driver. It only reads.
public final class PowerSupply: Accessory {
  /// The driver's name in profiles.
  public static let driverName = PowerSupplyIdentity.driverName

  /// The power supply's name in messages to the user.
  public let label: String
  private let transport: PowerSupplyTransport
  private let changes = EventHub<AccessoryNews>(limit: 64)
  /// The battery that was last reported.
  private let told = Locked<BatteryReading?>(nil)

  private init(_ transport: PowerSupplyTransport) { (self.transport, label) = (transport, transport.label) }

  /// Stops listening when it is released.
  deinit { transport.beginClose() }

  /// The power supply that is open as `transport`, which it owns from now on.
  public static func open(_ transport: PowerSupplyTransport) -> PowerSupply {
    let supply = PowerSupply(transport)
    supply.follow()
    return supply
  }

  /// Reads the battery again when the kernel reports a change.
  private func follow() {
    let events = transport.changes()
    Task { [weak self] in
      do throws(AccessoryError) {
        for try await _ in events { await self?.look() }
        self?.changes.finish(nil)
      } catch {
        self?.changes.finish(error)
      }
    }
  }

  private func look() async {
    let last = told.withLock { $0 }
    // If nobody has asked yet, there is no old reading to compare with.
    guard last != nil, let now = try? await battery(), now != last else { return }
    changes.send(.battery(now))
  }

  private func attributes(_ names: [String]) async throws(AccessoryError) -> SupplyAttributes {
    SupplyAttributes(try await transport.read(names))
  }

  /// The identity from its maker.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    let own = try await attributes(["manufacturer", "model_name", "serial_number"])
    return AccessoryIdentity(
      manufacturer: own["manufacturer"] ?? "", model: own["model_name"] ?? "",
      serialNumber: own["serial_number"] ?? "", firmwareRevision: "", hardwareRevision: "")
  }

  /// The battery. Throws `unsupported` for a charger, and `disconnected`.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    let own = try await attributes(SupplyAttributes.ofBatteries)
    guard own.hasBattery else { throw AccessoryError(.unsupported, "\(label) is a charger, and has no battery") }
    let reading = own.battery
    told.withLock { $0 = reading }
    return reading
  }

  /// All other values of the kernel. Throws `disconnected`.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    try await attributes(SupplyAttributes.ofValues).values
  }

  /// The battery, at each change that the kernel reports.
  public func news() -> EventStream<AccessoryNews> { changes.stream() }

  /// Stops listening.
  public func close() async {
    await transport.close()
    changes.finish(nil)
  }
}
