// SPDX-License-Identifier: Apache-2.0

import AccessoryLink
import AccessoryProtocols

extension FrameWords {
  /// Describes a line of text that is no reply.
  package static func line(_ protocol: String, _ outcome: FrameOutcome, _ payload: [UInt8]) -> FrameWords {
    let text = payload.withoutLineEnd
    return FrameWords(
      `protocol`, "text", title: "text", summary: problem(outcome) ?? quoted(text),
      fields: outcome == .whole ? [.init("text", String(decoding: text, as: UTF8.self))] : [])
  }
}

extension [UInt8] {
  /// The bytes without the line ends at their end.
  package var withoutLineEnd: ArraySlice<UInt8> {
    var bytes = self[...]
    while let last = bytes.last, last == 0x0A || last == 0x0D { bytes.removeLast() }
    return bytes
  }
}
