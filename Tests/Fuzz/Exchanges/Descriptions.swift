// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols
import AccessorySimulator

/// Reads the input as a protocol's description, up to its first zero byte, and what is behind it as what an accessory of
/// that protocol sends, and is sent. Whatever it is, nothing traps; what the reader takes its codec takes; what is wrong
/// has a place in the text.
enum Descriptions {
  static func run(_ input: [UInt8]) {
    let text = Array(input.prefix { $0 != 0 })
    let stream = Array(input.dropFirst(text.count + 1))
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
      return
    }
    guard let codec = try? DescribedCodec(described.description), let check = try? ExampleCheck(described.description)
    else { preconditionFailure("the reader takes what its codec doesn't") }
    _ = check.problems()
    receive(stream, codec)
    simulate(stream, described.description)
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

  /// A pretended accessory takes the stream, and all requests.
  private static func simulate(_ stream: [UInt8], _ description: ProtocolDescription) {
    guard var device = try? DescribedDevice(description, serialNumber: "1"),
      let codec = try? DescribedCodec(description)
    else { return }
    _ = device.start()
    let writer = RequestWriter(codec)
    for request in description.requests.indices {
      if let request = try? writer.bytes(request) { _ = device.take(request.bytes) }
    }
    _ = device.take(stream)
  }
}
