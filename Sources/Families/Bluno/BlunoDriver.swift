// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// The driver of robots with a Bluno board.
  ///
  /// Raw bytes are harmless: a robot is controlled by bytes, and each robot's program has its own. Its radio's
  /// settings can be changed by its commands without permission, too.
  public static let bluno = Driver(
    name: BlunoRobot.driverName, summary: "robots with a Bluno board", commands: BlunoRobot.commands,
    polls: [],
    rawBytes: .harmless, lacks: [.status, .battery, .files, .requests],
    preview: { calls, _ throws(AccessoryError) in try BlunoRobot.preview(of: calls) },
    previewRemark: BlunoRobot.previewRemark, frames: { BlunoFrameReader() }
  ) {
    session, _, clock throws(AccessoryError) in
    try await BlunoRobot.open(session, clock: clock)
  }
  .shipping { [.bluno] }
  .driven { () throws(AccessoryError) in try await BlunoDriveKeys() }
  .found(
    by: blunoProbe, at: [.init(115_200, .switchesModes), .init(115_200, .switchesModes, form: "old")])
}

extension Profile {
  /// The profile for robots with a Bluno board that simulators announce, or that the user names as the driver.
  public static let bluno = shipped(PackageResources.bluno_yaml, driver: BlunoRobot.driverName)
}

extension BlunoRobot: Accessory {
  /// Asks the radio for its name, address and version. Fields that the radio doesn't answer stay empty.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    var identity = AccessoryIdentity(
      manufacturer: "", name: "", model: "Bluno", serialNumber: "", firmwareRevision: "", hardwareRevision: "")
    try await told { () throws(AccessoryError) in
      identity.name = try await text(of: .name)
      identity.serialNumber = try await text(of: .address)
      identity.firmwareRevision = try await text(of: .version)
    }
    return identity
  }

  /// Returns an unknown status: a robot doesn't report one.
  public func status() async throws(AccessoryError) -> AccessoryStatus { AccessoryStatus() }

  /// Throws `unsupported`: a Bluno doesn't report its battery.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    throw AccessoryError(.unsupported, "\(label) is a Bluno, which doesn't report its battery")
  }

  /// Asks the radio, in AT mode, for the signal strength of its connection and for its transmit power, both in dBm. A
  /// value that the radio doesn't answer is nil.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    var (strength, power): (Int?, Int?)
    try await told { () throws(AccessoryError) in
      strength = Int(try await text(of: .signalStrength))
      power = Int(try await text(of: .power))
    }
    return [
      // The radio reports 0 when it has no connection.
      AccessoryValue(
        "signal_strength", quantity: .signalStrength, unit: .decibelMilliwatt,
        number: strength.flatMap { $0 == 0 ? nil : Double($0) }),
      AccessoryValue(
        "transmit_power", quantity: .signalStrength, unit: .decibelMilliwatt, number: power.map(Double.init),
        importance: .setting),
    ]
  }

  /// Asks the radio, and leaves AT mode. What the radio doesn't answer stays as it was.
  private func told(_ ask: () async throws(AccessoryError) -> Void) async throws(AccessoryError) {
    try await alone { () throws(AccessoryError) in
      do throws(AccessoryError) {
        try await ask()
        try await leaveATMode()
      } catch {
        guard error.kind == .timedOut else { throw error }
      }
    }
  }

  /// Texts of the robot, all as `other`: their meaning isn't known.
  public nonisolated func news() -> EventStream<AccessoryNews> { texts().converted { _ in .other } }
}
