// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// Decodes the traffic between a remote control and an HM-1X car, for a trace: control frames to the car; bytes from it
/// are shown as text.
struct HM1XFrameReader: FrameReader {
  private var control = FrameSide(.toDevice, HM1XFrame.codec)
  private var lines = FrameSide(.fromDevice, LineExchange.lines)

  var isText: Bool { true }

  mutating func decode(_ bytes: [UInt8], _ direction: ByteDirection) -> [FrameRead] {
    direction == .toDevice
      ? control.decode(bytes.span.bytes, Self.frame) : lines.decode(bytes.span.bytes, Self.line)
  }

  mutating func idle(_ direction: ByteDirection) -> [FrameRead] {
    direction == .toDevice ? control.idle(Self.frame) : lines.idle(Self.line)
  }

  mutating func expire(_ direction: ByteDirection) -> [FrameRead] {
    direction == .toDevice ? control.expire(Self.frame) : lines.idle(Self.line)
  }

  func hasUnfinishedFrame(_ direction: ByteDirection) -> Bool {
    direction == .toDevice ? control.codec.hasUnfinishedFrame : lines.codec.hasUnfinishedFrame
  }

  private static func frame(_ header: NoHeader, _ outcome: FrameOutcome, _ payload: [UInt8]) -> FrameWords? {
    guard let frame = try? HM1XFrame(decoding: payload) else { return nil }  // can't fail
    let lights = [(frame.headlights, "headlights"), (frame.brakeLights, "brake lights")].filter(\.0).map(\.1)
    return FrameWords(
      "HM-1X", "request", title: "control", command: "control",
      summary: (["steering \(frame.steering)", "acceleration \(frame.acceleration)"] + lights).joined(separator: ", "),
      fields: [
        .init("steering", frame.steering), .init("acceleration", frame.acceleration),
        .init("headlights", .flag(frame.headlights)), .init("brake_lights", .flag(frame.brakeLights)),
      ])
  }

  private static func line(_ header: ReplyEnd, _ outcome: FrameOutcome, _ payload: [UInt8]) -> FrameWords? {
    FrameWords.line("HM-1X", outcome, payload)
  }
}
