// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

// Writes a proposal as the beginning of a description.
extension FramingProposal {
  /// The text of a description's file with this framing. Comments in it say what the proposal is based on. The file is
  /// valid as it is. `name` is the name of the protocol.
  public func text(name: String) -> String {
    var lines = samples.isEmpty ? [] : ([evidence] + remarks).map { "# \($0)" }
    lines += [
      "protocol: \(name)", "version: 1", "description: What it is, in a line", "byte_order: big",
      "line: {baud: 9600}  # as the accessory wants it", "", "framings:",
    ]
    lines += extent == .line ? lineFraming : layout
    lines += [
      "", "messages:", "  # All frames, until each kind has a message of its own: when: {ELEMENT: NUMBER} tells which.",
      "  \(frameName):", "    fields:", "      - \(content)", "    pushed: true  # not if it must be asked",
    ]
    if !samples.isEmpty { lines += ["", "examples:"] }
    // Frames of different lengths come first.
    var sizes: Set<Int> = []
    let good = samples.filter { frame in check.map { isGood(frame, $0) } ?? true }
    let fresh = good.filter { sizes.insert($0.count).inserted }
    for sample in (fresh + good.filter { !fresh.contains($0) }).prefix(4) {
      lines.append("  - {received: \(bytes(sample))}")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private var frameName: String { extent == .line ? "line" : "frame" }

  private var evidence: String {
    let what = extent == .line ? "lines" : "frames"
    let sizes = samples.map(\.count)
    let (least, most) = (sizes.min() ?? 0, sizes.max() ?? 0)
    let size = least == most ? "\(least)" : "\(least) to \(most)"
    return "\(framedByteCount) of \(byteCount) bytes are \(frameCount) \(what) of \(size) bytes, "
      + "\(samples.count) of them different."
  }

  /// What a person should know before trusting the proposal.
  private var remarks: [String] {
    guard extent != .line else { return [] }
    var remarks: [String] = []
    if let check {
      let count = samples.count(where: { isGood($0, check) })
      if samples.count == 1 { remarks.append("All frames are the same, so the check is a guess: record more.") }
      remarks.append(
        "The check \(check.algorithm.name ?? "") is right in \(count) of \(samples.count) different frames.")
    } else {
      remarks.append(
        "No known check matches: there is none, or it covers other bytes, or the frames are too few.")
    }
    if case .length(let place, let format, _) = extent, format.byteCount == 1, place > 1,
      samples.allSatisfy({ $0[place - 1] == 0 })
    {
      remarks.append("The byte before length is always 00: it may belong to the length.")
    }
    return remarks
  }

  private func isGood(_ frame: [UInt8], _ check: FoundCheck) -> Bool {
    let place = frame.count - end.count - check.algorithm.byteCount
    guard place > check.from else { return false }
    let engine = CheckEngine(.init(check.algorithm, covers: 0...0))
    let value = engine.value(over: frame.span.bytes.extracting(check.from..<place))
    return frame.span.bytes.integer(at: place, byteCount: check.algorithm.byteCount, check.order) == value
  }

  // MARK: - Lines

  private var lineFraming: [String] {
    let end = end == [13, 10] ? "\\r\\n" : end == [10] ? "\\n" : "\\r"
    return ["  line:", "    layout: [data, end: \"\(end)\"]"]
  }

  private var content: String {
    if extent == .line { return "{name: text, type: text}" }
    if case .fixed = extent, let size = bodySize, size > 0 { return "{name: content, type: hex, bytes: \(size)}" }
    return "{name: content, type: u8, repeat: end}"
  }

  /// Bytes in the notation of descriptions: a quoted text for lines, otherwise hexadecimal digits.
  private func bytes(_ bytes: [UInt8]) -> String {
    let digits = bytes.map(Self.digits)
    guard extent == .line, bytes.allSatisfy({ $0 < 0x80 }) else { return digits.joined(separator: " ") }
    let characters = bytes.map { byte in
      switch byte {
      case 13: "\\r"
      case 10: "\\n"
      case 9: "\\t"
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
      default: String(UnicodeScalar(byte))
      }
    }
    return "\"\(characters.joined())\""
  }

  private static func digits(_ byte: UInt8) -> String {
    String(UnicodeScalar(HexDigits.digit(byte >> 4))) + String(UnicodeScalar(HexDigits.digit(byte & 0xF)))
  }

  // MARK: - Frames

  /// How many bytes are in front of the body. Bytes that a check leaves out, and bytes in front of a length, are
  /// elements of their own.
  private var headSize: Int {
    var size = max(start.count, check?.from ?? 0)
    if case .length(let place, let format, _) = extent { size = max(size, place + format.byteCount) }
    return size
  }

  private var tailSize: Int { end.count + (check?.algorithm.byteCount ?? 0) }

  /// How many bytes the body has, if all frames have the same size.
  private var bodySize: Int? {
    if case .fixed(let size) = extent { max(0, size - headSize - tailSize) } else { nil }
  }

  private var layout: [String] {
    var elements = ["start: \(bytes(start))"]
    var names: [Int: String] = [0: "start"]
    var place = start.count
    while place < headSize {
      if case .length(place, let format, let added) = extent {
        names[place] = "length"
        elements.append("length: {\(length(format, at: place, added: added))}")
        place += format.byteCount
      } else {
        names[place] = "byte_\(place)"
        elements.append("byte_\(place): u8  # \(seen(at: place))")
        place += 1
      }
    }
    elements.append(bodySize.map { "data: \($0)" } ?? "data")
    if let check {
      let order = check.order == .littleEndian && check.algorithm.byteCount > 1 ? ", order: little" : ""
      elements.append(
        "check: {algorithm: \(check.algorithm.name ?? "sum8"), over: \(names[check.from] ?? "data")..data\(order)}")
    }
    if !end.isEmpty { elements.append("end: \(bytes(end))") }
    return ["  frame:", "    layout:"] + elements.map { "      - \($0)" }
  }

  private func length(_ format: NumberFormat, at place: Int, added: Int) -> String {
    let type = "type: u\(8 * format.byteCount)\(format.order == .littleEndian && format.byteCount > 1 ? "le" : "")"
    let behind = place + format.byteCount
    let first = headSize > behind ? "byte_\(behind)" : "data"
    // How many bytes more than the number the elements have, from the first behind the length to the body's end.
    let adjust = added - behind - tailSize
    let last = end.isEmpty ? "check" : "end"
    if adjust == 0 { return "\(type), of: \(first == "data" ? first : "\(first)..data")" }
    if adjust + tailSize == 0 { return "\(type), of: \(first)..\(last)" }
    if check != nil, adjust + tailSize - end.count == 0 { return "\(type), of: \(first)..check" }
    if added == 0 { return "\(type), of: start..\(tailSize == 0 ? "data" : last)" }
    return "\(type), of: \(first == "data" ? first : "\(first)..data"), adjust: \(adjust)"
  }

  /// Which values a byte has in the samples, as a hint for the person who names the element.
  private func seen(at place: Int) -> String {
    guard !samples.isEmpty else { return "what is it?" }
    let values = Set(samples.compactMap { $0.indices.contains(place) ? $0[place] : nil }).sorted()
    let list = values.prefix(6).map(Self.digits).joined(separator: ", ")
    return values.count == 1 ? "always \(list)" : list + (values.count > 6 ? " …" : "")
  }
}
