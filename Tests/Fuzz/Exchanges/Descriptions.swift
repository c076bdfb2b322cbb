// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryDrivers
import AccessoryFamilies
import AccessoryProtocols
import AccessorySimulator

/// Descriptions of protocols, and what is sent in these. Whatever it is, nothing traps; what the reader takes its codec
/// takes; what is wrong has a place in the text.
enum Descriptions {
  /// Reads the input as a description, and checks its examples.
  static func read(_ input: [UInt8]) { _ = description(input) }

  /// Reads the input as a description, up to its first zero byte, and what is behind it as what an accessory of that
  /// protocol sends. A byte in the place of the text is the number of a description that comes with the package.
  static func decode(_ input: [UInt8]) {
    let text = Array(input.prefix { $0 != 0 })
    let stream = Array(input.dropFirst(text.count + 1))
    let description =
      if text.count == 1, Int(text[0]) <= shipped.count { shipped[Int(text[0]) - 1] } else { description(text) }
    guard let description, let codec = try? DescribedCodec(description) else { return }
    receive(stream, codec)
  }

  private static let shipped = Leaks.unwatched {
    DescriptionLibrary.builtIn.names.compactMap { DescriptionLibrary.builtIn.described($0)?.description }
  }

  /// Makes up a description as the input says, which the reader takes or refuses, and has a pretended accessory of that
  /// protocol be asked everything, and sent the rest of the input.
  static func simulate(_ input: [UInt8]) {
    var script = Script(input)
    let text = MadeUpDescription.text(&script)
    guard let description = description(Array(text.utf8)) else { return }
    simulate(script.rest(), description)
  }

  private static func description(_ text: [UInt8]) -> ProtocolDescription? {
    let described: DescribedProtocol
    do throws(ProfileProblems) {
      described = try DescriptionReader.read(text, file: "f")
    } catch {
      precondition((1...20).contains(error.problems.count))
      for problem in error.problems {
        precondition((1...text.count + 2).contains(problem.line ?? 0), "the line is in the text")
        precondition((1...text.count + 2).contains(problem.column ?? 0), "the column is in the text")
        precondition(problem.message.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F })
      }
      return nil
    }
    guard (try? DescribedCodec(described.description)) != nil, let check = try? ExampleCheck(described.description)
    else { preconditionFailure("the reader takes what its codec doesn't") }
    _ = check.problems()
    return described.description
  }

  /// The stream in pieces, whose lengths are its own.
  private static func receive(_ stream: [UInt8], _ codec: DescribedCodec) {
    let decoder = MessageDecoder(codec)
    var codec = codec
    var batch = FrameBatch<DescribedHeader>()
    var rest = stream[...]
    while let first = rest.first {
      let piece = Array(rest.prefix(1 + Int(first & 31)))
      rest = rest.dropFirst(piece.count)
      codec.decode(piece.span.bytes, into: &batch)
      if first & 32 != 0 { codec.idle(into: &batch) }
    }
    codec.idle(into: &batch)
    for index in 0..<batch.count {
      let (header, content) = (batch.header(at: index), batch.payloadBytes(at: index))
      guard let message = decoder.message(header, content.span.bytes) else { continue }
      let decoded = decoder.decode(message, header, content.span.bytes)
      precondition(Set(decoded.values.map(\.name)).count == decoded.values.count, "a value is there twice")
      for value in decoded.values { check(value.value) }
    }
  }

  private static func check(_ value: PlainValue) {
    switch value {
    case .number(let number): precondition(number.isFinite)
    case .list(let list):
      precondition(list.count <= ProtocolDescription.Limit.values)
      list.forEach(check)
    default: break
    }
  }

  /// A pretended accessory takes all requests, what it sends by itself is due, its values are set, it takes the stream; and
  /// a host reads what it sends.
  private static func simulate(_ stream: [UInt8], _ description: ProtocolDescription) {
    guard var device = try? DescribedDevice(description, serialNumber: "1"),
      let codec = try? DescribedCodec(description)
    else { return }
    var sent: [UInt8] = []
    var due: [DescribedDevice.ScheduledAction] = []
    func note(_ effects: [SerialEffect<DescribedDevice>]) {
      for effect in effects {
        switch effect {
        case .send(let bytes): sent += bytes.prefix(10_000)
        case .after(_, let moment): due.append(moment)
        default: break
        }
      }
    }
    device.drainInterval = .seconds(1)
    note(device.start())
    let writer = RequestEncoder(codec)
    var script = Script(stream)
    let names = description.messages.flatMap(\.fields).map(\.name)
    for _ in 0..<3 {
      for request in description.requests.indices {
        if let request = try? writer.bytes(request) { note(device.take(request.bytes)) }
      }
      let moments = due.prefix(64)
      due = []
      for moment in moments { note(device.perform(moment)) }
      for example in description.examples.indices { device.take(example: example) }
      if let name = names.isEmpty ? nil : names[script.number(below: names.count)] {
        try? device.set(name, to: script.value())
      }
      device.set(percent: Int(script.byte()))
    }
    note(device.take(script.rest()))
    receive(Array(sent.prefix(20_000)), codec)
  }
}
