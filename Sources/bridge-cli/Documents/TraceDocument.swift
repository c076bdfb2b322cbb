// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import AccessoryLink
import AccessoryProtocols

/// One entry of a trace.
struct TraceDocument: Encodable {
  let schema = schemaName
  let time: Double
  let direction, kind: String
  let outcome, command, summary, payload_hex, frame_hex: OrNull<String>
  let command_byte: OrNull<UInt8>
  let number: OrNull<UInt16>
  let noise_bytes: OrNull<Int>

  init(_ entry: TraceEntry) {
    time = Double(entry.time.inNanoseconds) / 1e9
    direction = entry.direction.rawValue
    switch entry.content {
    case .noise(let count):
      kind = "noise"
      noise_bytes = OrNull(count)
      (outcome, command, summary, payload_hex, frame_hex) = (
        OrNull(nil), OrNull(nil), OrNull(nil), OrNull(nil), OrNull(nil)
      )
      command_byte = OrNull(nil)
      number = OrNull(nil)
    case .frame(let header, let frameOutcome, let payload):
      kind = header.kind
      noise_bytes = OrNull(nil)
      command = OrNull(header.command.name.lowercased())
      command_byte = OrNull(header.command.rawValue)
      number = OrNull(header.number)
      let isWhole = frameOutcome == .whole
      outcome = OrNull(Self.name(frameOutcome))
      summary = OrNull(isWhole ? AF1Text.summary(header, payload) : frameOutcome.problem(header))
      payload_hex = OrNull(isWhole ? Hexadecimal.string(payload) : nil)
      frame_hex = OrNull(isWhole ? Hexadecimal.string(TraceView.bytes(header, payload)) : nil)
    }
  }

  private static func name(_ outcome: FrameOutcome) -> String {
    switch outcome {
    case .whole: "whole"
    case .payloadDamaged: "payload_damaged"
    case .tooLong: "too_long"
    case .otherVersion: "other_version"
    case .malformed: "malformed"
    }
  }
}
