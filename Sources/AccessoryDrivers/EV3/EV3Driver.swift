// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// LEGO EV3 bricks.
  public static let ev3 = Driver(
    name: EV3Brick.driverName, summary: "LEGO EV3 bricks", commands: EV3Brick.commands,
    polls: [.readings(every: .seconds(60))], lacks: [.requests],
    preview: { calls, _ throws(AccessoryError) in try EV3Brick.preview(of: calls) },
    previewRemark: EV3Brick.previewRemark, frames: { EV3FrameReader() },
    greeting: { session, clock throws(AccessoryError) in
      if session.transport.peer != nil { try await EV3Greeting.exchange(over: session, clock: clock) }
    },
    make: { session, profile, clock throws(AccessoryError) in
      try await EV3Brick.open(session, options: .init(profile), clock: clock)
    })
}

extension EV3Brick: Accessory {
  /// Asks for name and versions. A brick doesn't tell its serial number; on USB its descriptors do.
  public func identify() async throws(AccessoryError) -> AccessoryIdentity {
    AccessoryIdentity(
      manufacturer: "LEGO", name: try await ask(.brickName), model: "EV3", serialNumber: "",
      firmwareRevision: try await ask(.firmwareVersion), hardwareRevision: try await ask(.hardwareVersion))
  }

  /// Asks for its warnings: they are the fault's number, and the busy one alone is no fault.
  public func status() async throws(AccessoryError) -> AccessoryStatus {
    let warnings = try await ask(.warnings)
    let faults = warnings.subtracting([.busy, .batteryLow])
    if !faults.isEmpty { return AccessoryStatus(state: .fault, faultCode: UInt16(faults.rawValue)) }
    return AccessoryStatus(state: warnings.contains(.busy) ? .busy : .idle)
  }

  /// Asks for percent, voltage and current, in one message. Whether it is being charged, a brick doesn't know.
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
    let reply = try await send(batch)
    return BatteryReading(
      percent: UInt8(exactly: reply[percent]).flatMap { $0 <= 100 ? $0 : nil },
      millivolts: Self.thousandths(reply[volts]), milliamperes: Self.thousandths(-reply[amperes]))
  }

  /// Of what a brick says: whatever is beyond all sense is nothing.
  private static func thousandths(_ value: Float) -> Int? {
    value.isFinite && abs(value) < 1_000 ? Int((value * 1_000).rounded()) : nil
  }

  /// A brick tells nothing of its own accord; only its going is told.
  public func news() -> EventStream<AccessoryNews> { link.news() }
}

extension EV3Exchange.Options {
  /// The defaults, with what a profile says of pacing.
  public init(_ profile: Profile?) {
    self.init()
    if let profile { pacing = profile.pacing }
  }
}
