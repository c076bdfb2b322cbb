// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Splits a recording, which comes in pieces of any size, into lines.
public struct RecordingReader: Sendable {
  private var partial: [UInt8] = []
  private var lineNumber = 0
  private var hasStarted = false

  /// Bytes of the longest line; a record is at most what one read of a transport gives.
  private static let longestLine = 1 << 20

  /// A reader at the beginning of a file.
  public init() {}

  /// Whether what was given so far ends in the middle of a line, as a file does that was cut off.
  public var isCutOff: Bool { !partial.isEmpty }

  /// Takes the next bytes and appends the lines they complete. Throws `badData` with the line's number.
  public mutating func read(_ bytes: some Collection<UInt8>, into lines: inout [Recording.Line]) throws(AccessoryError)
  {
    var rest = bytes[...]
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      partial += rest[..<end]
      rest = rest[rest.index(after: end)...]
      lineNumber += 1
      let text = String(decoding: partial, as: UTF8.self)
      partial.removeAll(keepingCapacity: true)
      guard hasStarted || text.hasPrefix(Recording.signature.prefix { $0 != " " }) else {
        throw AccessoryError(.badData, "this is not a recording: it doesn't begin with \(Recording.signature)")
      }
      let line: Recording.Line
      do throws(AccessoryError) {
        line = try Recording.parse(text)
      } catch {
        throw AccessoryError(.badData, "line \(lineNumber): \(error.message)")
      }
      if case .start = line { hasStarted = true }
      lines.append(line)
    }
    partial += rest
    guard partial.count <= Self.longestLine else {
      throw AccessoryError(.badData, "line \(lineNumber + 1) is too long for a recording")
    }
  }
}
