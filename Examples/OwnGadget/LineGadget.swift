// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols

/// A gadget that answers lines of text: `BAT?` with `BAT 57 3712`, or with `ERR` and a reason.
struct LineGadget: LinkedAccessory {
  let link: Link<FrameExchange<DelimitedCodec>>

  static func open(_ session: AccessorySession) async throws(AccessoryError) -> LineGadget {
    let rules = try FrameExchange(.carriageReturnLineFeed, maximumPayload: 80, label: session.label) { line, request in
      if line.payload.starts(with: "ERR ".utf8) { return .refusal(nil, String(decoding: line.payload, as: UTF8.self)) }
      // The answer begins with the request's word; what stands behind is its own.
      return line.payload.starts(with: request.payload.dropLast()) ? .reply : .unrelated
    }
    return LineGadget(link: try await Link.open(session, rules: rules))
  }

  func battery() async throws(AccessoryError) -> BatteryReading {
    let line = Frame(payload: Array("BAT?".utf8))
    let reply = try await link.ask(FrameRequest(line, name: "BAT?", isIdempotent: true))
    let words = reply.payload.split(separator: UInt8(ascii: " ")).map { Int(String(decoding: $0, as: UTF8.self)) }
    guard words.count == 3, let percent = words[1], (0...100).contains(percent), let millivolts = words[2] else {
      throw AccessoryError(.badData, "\(label) answers BAT? with nonsense")
    }
    return BatteryReading(percent: percent, millivolts: millivolts)
  }
}
