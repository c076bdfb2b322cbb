// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryLink
import AccessoryProtocols
import CommandOutput

/// One entry of a trace.
struct TraceDocument: Encodable {
  let schema = DocumentSchema.name
  let document = DocumentKind.trace
  /// In seconds since 1970, UTC; null where a recording doesn't say when it was made.
  let time: OrNull<Double>
  /// In seconds since the trace began.
  let elapsed_s: Double
  let kind: String
  /// Null for lost bytes, which may have gone either way.
  let direction: OrNull<String>
  private(set) var outcome, command, summary: OrNull<String>
  private(set) var payload = OrNull<BytesDocument>(nil)
  private(set) var frame = OrNull<BytesDocument>(nil)
  private(set) var command_byte = OrNull<UInt8>(nil)
  private(set) var number = OrNull<UInt16>(nil)
  private(set) var noise_bytes = OrNull<Int>(nil)
  private(set) var lost_bytes = OrNull<Int>(nil)
  /// The protocol's name, and the decoded fields of the frame.
  private(set) var `protocol` = OrNull<String>(nil)
  private(set) var fields = OrNull<[String: PlainValue]>(nil)

  /// An entry of a trace that began at `began`, in seconds since 1970, UTC.
  init(_ entry: TraceEntry, began: Double?) {
    elapsed_s = Double(entry.time.inNanoseconds) / 1e9
    time = OrNull(began.map { ($0 * 1_000 + Double(entry.time.inNanoseconds) / 1e6).rounded() / 1_000 })
    (outcome, command, summary) = (OrNull(nil), OrNull(nil), OrNull(nil))
    switch entry.content {
    case .lost(let count):
      kind = "lost"
      direction = OrNull(nil)
      lost_bytes = OrNull(count)
    case .noise(let count):
      kind = "noise"
      direction = OrNull(entry.direction.rawValue)
      noise_bytes = OrNull(count)
    case .bytes(let bytes):
      kind = "bytes"
      direction = OrNull(entry.direction.rawValue)
      payload = OrNull(BytesDocument(bytes))
    case .frame(let words):
      kind = words.kind
      direction = OrNull(entry.direction.rawValue)
      `protocol` = OrNull(words.protocol)
      command = OrNull(words.command)
      command_byte = OrNull(words.commandByte)
      number = OrNull(words.number)
      let isWhole = words.outcome == .whole
      outcome = OrNull(Self.name(words.outcome))
      summary = OrNull(words.summary.isEmpty ? nil : words.summary)
      payload = OrNull(isWhole ? BytesDocument(words.payload) : nil)
      frame = OrNull(isWhole ? BytesDocument(words.bytes) : nil)
      fields = OrNull(
        Dictionary(words.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 }))
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
