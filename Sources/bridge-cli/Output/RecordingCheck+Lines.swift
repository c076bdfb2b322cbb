// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols

extension DescribedProtocol {
  /// Holds it against a recording. Throws `badData` when the file isn't one, and when it can't be read. Blocks: for a
  /// `SetupQueue`.
  func held(against recording: String) throws -> RecordingCheck {
    var check = try RecordingCheck(description)
    try RecordingFile.read(recording) { line in
      switch line {
      case .start(let silence, _): check.begin(silence: silence)
      case .record(let record): check.add(record)
      case .began, .remark: break
      }
      return !check.isCut
    }
    check.finish()
    return check
  }
}

extension RecordingCheck {
  /// What came of it, for people.
  func lines(file: String) -> [String] {
    var lines: [String] = []
    for direction in [ByteDirection.toDevice, .fromDevice] {
      guard let bytes = byteCounts[direction] else { continue }
      let names = (counts[direction] ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      let frames = names.isEmpty ? "no frame that it describes" : names.joined(separator: ", ")
      lines.append("\(file): \(direction.words), \(Self.count(bytes, "byte")): \(frames)")
    }
    for misfit in misfits {
      let what = "\(Self.count(misfit.byteCount, "byte")) in no frame"
      lines.append("\(file): \(what), \(place(misfit.direction, misfit.offset, misfit.time)): \(hex(misfit.bytes))")
    }
    for stranger in strangers {
      let what = "\(Self.count(stranger.count, "frame")) that no message or request describes"
      let first = place(stranger.direction, stranger.offset, stranger.time)
      lines.append("\(file): \(what), the first \(first): \(hex(stranger.bytes))")
    }
    let untold = misfitByteCount - misfits.reduce(0) { $0 + $1.byteCount }
    if untold > 0 { lines.append("\(file): \(Self.count(untold, "more byte")) in no frame") }
    if isCut { lines.append("\(file): what comes behind the first \(Self.byteLimit) bytes one way was not looked at") }
    if lines.isEmpty { lines.append("\(file): nothing passed") }
    return lines
  }

  private func place(_ direction: ByteDirection, _ offset: Int, _ time: Duration) -> String {
    "at \(Recording.seconds(time).dropLast(3)) s, byte \(offset) \(direction.words)"
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { Hexadecimal.string([$0]) }.joined(separator: " ")
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}

extension ByteDirection {
  fileprivate var words: String { self == .fromDevice ? "from the accessory" : "to the accessory" }
}
