// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// The driver of cars with HM-1X control frames.
  ///
  /// Raw bytes are harmless: a car understands only the frames that its commands send.
  public static let hm1x = Driver(
    name: HM1XCar.driverName, summary: "HM-1X cars", commands: HM1XCar.commands, polls: [],
    rawBytes: .harmless, lacks: [.status, .battery, .files, .requests],
    preview: { calls, _ throws(AccessoryError) in try HM1XCar.preview(of: calls) },
    previewRemark: HM1XCar.previewRemark, frames: { HM1XFrameReader() }
  ) {
    session, _, clock throws(AccessoryError) in
    try await HM1XCar.open(session, clock: clock)
  }
  .shipping { [.hm1x] }
  .driven { HM1XDriveKeys() }
}

extension Profile {
  /// The profile for HM-1X cars that simulators announce, or that the user names as the driver.
  public static let hm1x = shipped(PackageResources.hm1x_yaml, driver: HM1XCar.driverName)
}

extension HM1XCar: Accessory {
  /// Returns only the model: a car doesn't report its identity.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    AccessoryIdentity(
      manufacturer: "", name: "", model: "HM-1X", serialNumber: "", firmwareRevision: "", hardwareRevision: "")
  }

  /// Returns an unknown status: a car doesn't report one.
  public func status() async throws(AccessoryError) -> AccessoryStatus { AccessoryStatus() }

  /// Throws `unsupported`: a car doesn't report its battery.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    throw AccessoryError(.unsupported, "\(label) is an HM-1X car, which doesn't report its battery")
  }

  /// The last frame that was sent, as derived values, because a car reports nothing. Unknown before the first frame.
  public func values() async throws(AccessoryError) -> [AccessoryValue] {
    let told = hasSentFrame ? frame : nil
    return [
      AccessoryValue("steering", number: told.map { Double($0.steering) }, isDerived: true),
      AccessoryValue("acceleration", number: told.map { Double($0.acceleration) }, isDerived: true),
      AccessoryValue("headlights", quantity: .state, content: told.map { .flag($0.headlights) }, isDerived: true),
      AccessoryValue("brake_lights", quantity: .state, content: told.map { .flag($0.brakeLights) }, isDerived: true),
    ]
  }

  /// A stream without news, because a car sends none. It throws the link's error when the car goes.
  public nonisolated func news() -> EventStream<AccessoryNews> { link.news() }

  private static let slider = CommandDescription.Kind.whole(HM1XFrame.range)
  private static let receiver = CommandDescription.Argument(
    "receiver", .choice(["window", "naive"]), defaultValue: .text("window"))

  /// The commands of a car.
  public static let commands = [
    CommandDescription(
      "drive", "Steers and accelerates; with a time for so long, and then it stops",
      [
        .init("steering", slider, defaultValue: .whole(0)), .init("acceleration", slider, defaultValue: .whole(0)),
        .init("time", .whole(0...3_600_000), unit: "ms", defaultValue: .whole(0)), receiver,
      ]),
    CommandDescription("stop", "Stops", [receiver]),
    CommandDescription("headlights", "Switches the headlights", [.init("on", .flag), receiver]),
    CommandDescription("brake-lights", "Switches the brake lights", [.init("on", .flag), receiver]),
  ]

  /// The type's `commands`.
  public func commands() -> [CommandDescription] { Self.commands }

  /// Carries out commands one after another. They have no replies. Throws what `drive` throws.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    for call in calls {
      receiver = call.text("receiver") == "naive" ? .naive : .window
      switch call.command.name {
      case "drive":
        let time = call.whole("time")
        try await drive(
          steering: call.whole("steering"), acceleration: call.whole("acceleration"),
          for: time > 0 ? .milliseconds(time) : nil)
      case "stop": try await stop()
      case "headlights": try await setLights(headlights: call.flag("on"))
      case "brake-lights": try await setLights(brakeLights: call.flag("on"))
      default: throw AccessoryError(.unsupported, "a car has no command \(call.command.name)")
      }
    }
    return calls.map { CommandReply($0.command) }
  }
}
