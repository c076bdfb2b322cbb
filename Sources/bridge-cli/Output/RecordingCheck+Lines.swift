// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import CommandOutput

extension DescribedProtocol {
  /// Checks a recording against the description. Throws `badData` when the file isn't a recording, and the error of a
  /// file that can't be read. Blocks, so call it on a `SetupQueue`.
  func checked(against recording: String) throws -> RecordingCheck {
    var check = try RecordingCheck(description)
    try RecordingFile.read(recording) { line in
      switch line {
      case .start(let silence, _): check.begin(silence: silence)
      case .record(let record): check.add(record)
      case .began, .unplugged, .plugged, .comment: break
      }
      return !check.isCut
    }
    check.finish()
    return check
  }
}

extension RecordingCheck {
  /// The result for people, in lines.
  func lines(file: String) -> [String] {
    var lines: [String] = []
    for direction in [ByteDirection.toDevice, .fromDevice] {
      guard let bytes = byteCounts[direction] else { continue }
      let names = (counts[direction] ?? [:]).sorted { $0.key < $1.key }.map { "\($0.value) \($0.key)" }
      let frames = names.isEmpty ? "no frame of the description" : names.joined(separator: ", ")
      lines.append("\(file): \(direction.words), \(Amount.bytes(bytes)): \(frames)")
    }
    for run in unframedRuns {
      let what = "\(Amount.bytes(run.byteCount)) in no frame"
      lines.append("\(file): \(what), \(place(run.direction, run.offset, run.time)): \(hex(run.bytes))")
    }
    for frame in unknownFrames {
      let what = "\(Amount.of(frame.count, "frame")) that no message or request describes"
      let first = place(frame.direction, frame.offset, frame.time)
      lines.append("\(file): \(what), the first \(first): \(hex(frame.bytes))")
    }
    let untold = unframedByteCount - unframedRuns.reduce(0) { $0 + $1.byteCount }
    if untold > 0 { lines.append("\(file): \(Amount.of(untold, "more byte")) in no frame") }
    if isCut { lines.append("\(file): only the first \(Self.byteLimit) bytes in each direction were checked") }
    if lines.isEmpty { lines.append("\(file): the recording is empty") }
    return lines
  }

  private func place(_ direction: ByteDirection, _ offset: Int, _ time: Duration) -> String {
    "at \(Recording.seconds(time).dropLast(3)) s, byte \(offset) \(direction.words)"
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { Hexadecimal.string([$0]) }.joined(separator: " ")
  }
}

extension ByteDirection {
  fileprivate var words: String { self == .fromDevice ? "from the accessory" : "to the accessory" }
}
