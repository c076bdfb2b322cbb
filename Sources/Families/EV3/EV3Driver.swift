// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// The driver of LEGO EV3 bricks.
  ///
  /// Raw bytes are harmless: programs control a brick by its bytes. Everything that they can do, its commands do
  /// without permission, too.
  public static let ev3 = Driver(
    name: EV3Brick.driverName, summary: "LEGO EV3 bricks", commands: EV3Brick.commands,
    polls: [.readings(every: .seconds(60))],
    rawBytes: .harmless, lacks: [.requests],
    preview: { calls, _ throws(AccessoryError) in try EV3Brick.preview(of: calls) },
    previewRemark: EV3Brick.previewRemark, frames: { EV3FrameReader() },
    routing: { transport, profile, _ in .ev3(label: transport.label, options: .init(profile)) },
    greeting: { session, clock throws(AccessoryError) in
      if session.transport.peer != nil { try await EV3Greeting.exchange(over: session, clock: clock) }
    },
    make: { session, profile, clock throws(AccessoryError) in
      try await EV3Brick.open(session, options: .init(profile), clock: clock)
    }
  )
  .shipping { [.ev3] }
  .found(by: ev3Probe, at: [.init(115_200, .little)])
  .numbered(.ev3)
}

extension Profile {
  /// The profile for LEGO EV3 bricks on USB, or announced by simulators.
  public static let ev3 = shipped(PackageResources.ev3_yaml, driver: EV3Brick.driverName)
}

extension EV3Brick {
  /// Asks for the name and the versions. A brick doesn't report its serial number; its USB descriptors hold it.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity { try await readIdentity().value }

  /// Asks for the same, and says what of it isn't answered.
  public func readIdentity() async throws(AccessoryError) -> Read<AccessoryIdentity> {
    try await answers([
      ("name", { @Sendable () async throws(AccessoryError) in try await ask(.brickName) }),
      ("firmware", { @Sendable () async throws(AccessoryError) in try await ask(.firmwareVersion) }),
      ("hardware", { @Sendable () async throws(AccessoryError) in try await ask(.hardwareVersion) }),
    ]).map { told in
      AccessoryIdentity(
        manufacturer: "LEGO", name: told["name"] ?? "", model: "EV3", serialNumber: "",
        firmwareRevision: told["firmware"] ?? "", hardwareRevision: told["hardware"] ?? "")
    }
  }

  /// Asks for the warnings. They become the fault code, except for "busy" and "battery low", which are no faults.
  public func status() async throws(AccessoryError) -> AccessoryStatus {
    let warnings = try await reading(.status) { () throws(AccessoryError) in try await ask(.warnings) }
    let faults = warnings.subtracting([.busy, .batteryLow])
    if !faults.isEmpty { return AccessoryStatus(state: .fault, faultCode: UInt16(faults.rawValue)) }
    return AccessoryStatus(state: warnings.contains(.busy) ? .busy : .idle, reportsFaults: true)
  }

  /// Asks for percent, voltage and current, in one message. A brick doesn't know whether its battery is being charged.
  public func battery() async throws(AccessoryError) -> BatteryReading {
    var batch = EV3Batch()
    let volts: EV3Batch.Place<Float>
    let amperes: EV3Batch.Place<Float>
    let percent: EV3Batch.Place<Int>
    do throws(EV3MessageError) {
      (volts, amperes) = (try batch.add(.batteryVoltage), try batch.add(.batteryCurrent))
      percent = try batch.add(.batteryPercent)
    } catch {
      throw AccessoryError(.misconfigured, "\(error)")  // three commands always fit
    }
    let reply = try await reading(.battery) { () throws(AccessoryError) in try await send(batch) }
    return BatteryReading(
      percent: (0...100).contains(reply[percent]) ? reply[percent] : nil,
      millivolts: Self.thousandths(reply[volts]), milliamperes: Self.thousandths(-reply[amperes]))
  }

  /// A value in thousandths; nil when it is impossible, that is, 1000 or more.
  private static func thousandths(_ value: Float) -> Int? {
    value.isFinite && abs(value) < 1_000 ? Int((value * 1_000).rounded()) : nil
  }
}

extension EV3Exchange.Options {
  /// The protocol's defaults, with the pacing of the profile, if there is one.
  public init(_ profile: Profile?) {
    self.init()
    if let profile { pacing = profile.pacing }
  }
}
