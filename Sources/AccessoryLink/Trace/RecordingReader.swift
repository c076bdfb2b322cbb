// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// Splits a recording, which is read in pieces of any size, into lines.
public struct RecordingReader: Sendable {
  private var partial: [UInt8] = []
  private var lineNumber = 0
  private var hasStarted = false

  /// The longest line in bytes. A record has at most the bytes of one read of a transport.
  private static let longestLine = 1 << 20

  /// A reader at the beginning of a file.
  public init() {}

  /// Whether the bytes so far end in the middle of a line, because the file was cut off.
  public var isCutOff: Bool { !partial.isEmpty }

  /// Takes the next bytes and appends the lines that they complete. Throws `badData` with the number of the line.
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
