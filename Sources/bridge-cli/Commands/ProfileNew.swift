// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink
import AccessoryProtocols
import ArgumentParser
import CommandOutput
import Glibc

struct ProfileNew: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "new",
    abstract: "Prints the beginning of a protocol description.",
    discussion: """
      From a recording it guesses how frames begin and end, and which checksum they have; without one it asks questions.

      EXAMPLES
        bridge-cli trace /dev/ttyUSB0 --record session.trace
        bridge-cli profile new --from session.trace > mine.yaml
        bridge-cli check mine.yaml --recording session.trace
      """)

  @Option(help: .value("file", "A recording, made with trace --record."), completion: .file()) var from: String?
  @Option(help: .value("name", "The name of the protocol.")) var name: String?
  @OptionGroup var output: OutputOptions

  func validate() throws {
    if let name, !SetupName.isName(name) {
      throw ValidationError("--name takes lower-case letters, digits, -, _ and ., and begins with a letter or a digit")
    }
  }

  func run() async throws {
    let proposal: FramingProposal
    var name = name
    if let from {
      let pieces = try await SetupQueue(label: "recording").run { try Self.pieces(of: from) }
      guard let found = FramingProposal(pieces: pieces) else {
        let count = min(FramingProposal.byteLimit, pieces.reduce(0) { $0 + $1.count })
        throw AccessoryError(
          .badData,
          count == 0
            ? "\(from) has no bytes from the accessory"
            : "\(from): no framing found in \(Amount.bytes(count)) from the accessory: record more, or describe it by hand"
        )
      }
      proposal = found
    } else {
      guard !output.json, isatty(STDIN_FILENO) == 1 else {
        throw UsageError("profile new asks questions, but there is no terminal: use --from RECORDING")
      }
      let questions = SkeletonQuestions()
      if name == nil { name = try questions.name() }
      proposal = try questions.proposal()
    }
    let text = proposal.text(name: name ?? "my-gadget")
    if output.json {
      let isFound = from != nil
      return Output.json(
        ProfileNewDocument(
          yaml: text, bytes: isFound ? proposal.byteCount : nil,
          framed_bytes: isFound ? proposal.framedByteCount : nil,
          frames: isFound ? proposal.frameCount : nil))
    }
    Output.text(text)
  }

  /// The pieces that the accessory sent, from the recording's beginning.
  private static func pieces(of recording: String) throws(AccessoryError) -> [[UInt8]] {
    var (pieces, count): ([[UInt8]], Int) = ([], 0)
    try RecordingFile.read(recording) { line in
      if case .record(let record) = line, record.direction == .fromDevice, !record.bytes.isEmpty {
        pieces.append(record.bytes)
        count += record.bytes.count
      }
      return count < FramingProposal.byteLimit
    }
    return pieces
  }
}

/// Asks at the terminal what frames look like. Questions go to standard error, since the file goes to standard output.
struct SkeletonQuestions {
  func name() throws -> String {
    try ask("What is the protocol called?", usual: "my-gadget") { SetupName.isName($0) ? $0 : nil }
  }

  func proposal() throws -> FramingProposal {
    let isText = try ask("Does the accessory send text or binary?", usual: "text") { word in
      word == "text" ? true : word == "binary" ? false : nil
    }
    if isText {
      let ends: [String: [UInt8]] = ["crlf": [13, 10], "lf": [10], "cr": [13]]
      return FramingProposal(
        extent: .line, end: try ask("How does a line end: crlf, lf or cr?", usual: "crlf") { ends[$0] })
    }
    let start = try ask("With which bytes does each frame begin, in hexadecimal?", usual: "AA") { bytes($0, 1...8) }
    let place = try ask(
      "How many bytes are before the length? (none: all frames have the same length)", usual: "\(start.count)"
    ) { word -> Int?? in
      word == "none" ? .some(nil) : Int(word).flatMap { (start.count...16).contains($0) ? .some($0) : nil }
    }
    let names = ProtocolDescription.Check.Algorithm.named
    let algorithm = try ask(
      "Which checksum is at its end: none, \(names.map(\.name).joined(separator: ", "))?", usual: "none"
    ) { word -> ProtocolDescription.Check.Algorithm?? in
      word == "none" ? .some(nil) : names.first { $0.name == word }.map { .some($0.algorithm) }
    }
    let end = try ask("Which bytes follow it, in hexadecimal? (none)", usual: "none") { word -> [UInt8]? in
      word == "none" ? [] : bytes(word, 1...8)
    }
    let check = algorithm.map { FramingProposal.FoundCheck(algorithm: $0, order: .bigEndian, from: 0) }
    let tail = end.count + (algorithm?.byteCount ?? 0)
    guard let place else {
      let least = start.count + tail + 1
      let size = try ask("How many bytes does a frame have?", usual: "\(max(8, least))") { word in
        Int(word).flatMap { (least...512).contains($0) ? $0 : nil }
      }
      return FramingProposal(start: start, extent: .fixed(size), check: check, end: end)
    }
    return FramingProposal(
      start: start, extent: .length(place: place, .init(byteCount: 1), added: place + 1 + tail), check: check, end: end)
  }

  /// Asks until the answer is valid. Throws `cancelled` at the end of the input, and if the command is interrupted.
  private func ask<Answer>(_ question: String, usual: String, _ meaning: (String) -> Answer?) throws -> Answer {
    for _ in 0..<20 {
      Output.note("\(question) [\(usual)]")
      try Interruption.waitUntilReadable(STDIN_FILENO, "the answers")
      guard let line = readLine() else { break }
      let word = line.isEmpty ? usual : line
      if let answer = meaning(word) { return answer }
      Output.note("not a valid answer: \(SafeText.escape(word, limit: 80))")
    }
    throw AccessoryError(.cancelled, "there was no answer, so nothing was printed")
  }

  private func bytes(_ text: String, _ count: ClosedRange<Int>) -> [UInt8]? {
    guard let bytes = Hexadecimal.bytes(text.filter { $0 != " " }), count.contains(bytes.count) else { return nil }
    return bytes
  }
}
