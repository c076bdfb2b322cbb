// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryProtocols
import AccessorySimulator
import Testing

/// Pretended accessories of the protocols that ship: with the values of an example, each answers the example's request with
/// the example's bytes.
@Suite struct DescribedDeviceTests {
  /// An example with a request and an answer.
  struct Exchange: Sendable, CustomTestStringConvertible {
    let name: String
    let description: ProtocolDescription
    let example: Int
    let sent, received: [UInt8]
    var testDescription: String { "\(name), line \(description.examples[example].line)" }
  }

  /// Examples that no accessory of the description can send to the byte, by protocol, request and count of bytes, and why:
  /// what is sent instead means the same.
  private static let others = [
    "daly extremes 13": "behind the cells it sends something that nobody describes",
    "daly temperature_extremes 13": "behind the sensors it sends something that nobody describes",
    "daly counts 13": "its last byte is reserved",
    "daly cells 65": "the last byte of each frame is reserved, and the last frame has a cell too many",
    "daly temperatures 26": "it sends frames for more sensors than it has",
    "elm327 reset 20": "it ends with line ends, which a pattern doesn't have",
    "elm327 information 18": "it ends with line ends, which a pattern doesn't have",
    "elm327 voltage 13": "it ends with line ends, which a pattern doesn't have",
    "elm327 voltage 8": "it ends with line ends, which a pattern doesn't have",
    "elm327 engine_speed 20": "it ends with line ends, which a pattern doesn't have",
    "elm327 module_voltage 20": "it ends with line ends, which a pattern doesn't have",
    "elm327 engine_speed 34": "it ends with line ends, and has what counts for nothing",
    "elm327 interface 34": "it ends with line ends, which a pattern doesn't have",
    "elm327 coolant 17": "it ends with line ends, which a pattern doesn't have",
    "megatec status 46": "it is padded with blanks, and a digit short",
    "megatec facts 39": "where it has no name it has dashes, and not blanks",
    "megatec facts 38": "its last column is a character short",
    "pylontech alarms 84": "it ends with a byte that isn't described",
    "pylontech maker 82": "behind the manufacturer it has dashes, which are no part of the name",
    "pylontech limits 68": "it has currents that aren't described",
    "pi30 ratings 98": "its last columns aren't described",
    "jk values 28": "one of them ends with a tag that nobody knows",
    "vesc firmware 268": "it ends with bytes that aren't described",
    "renogy state 7": "the other half of the register is the load's",
    "renogy model 21": "behind the text are blanks, not zeros",
    "srne state 7": "the other half of the register is the load's",
    "srne model 21": "behind the text are blanks, not zeros",
    "vesc firmware 35": "it ends with two bytes that aren't described",
  ]

  static let exchanges: [Exchange] = DescriptionLibrary.builtIn.names.flatMap { name -> [Exchange] in
    guard let description = DescriptionLibrary.builtIn.described(name)?.description,
      let codec = try? DescribedCodec(description)
    else { return [] }
    let writer = RequestEncoder(codec)
    return description.examples.indices.compactMap { index in
      let example = description.examples[index]
      guard let request = example.request, !example.received.isEmpty, !example.isRefused else { return nil }
      guard let sent = example.sent ?? (try? writer.bytes(request, example.arguments).bytes) else { return nil }
      return Exchange(name: name, description: description, example: index, sent: sent, received: example.received)
    }
  }

  @Test func thereIsOneOfEach() {
    #expect(Set(Self.exchanges.map(\.name)) == Set(DescriptionLibrary.builtIn.names))
  }

  /// What the accessory sends when it has the example's values and is asked what the example asks.
  private func answer(_ exchange: Exchange) throws -> [UInt8] {
    var device = try DescribedDevice(exchange.description, serialNumber: "SIM0001")
    let isTaken = device.take(example: exchange.example)
    try #require(isTaken)
    return device.take(exchange.sent).flatMap { if case .send(let bytes) = $0 { bytes } else { [UInt8]() } }
  }

  private func key(_ exchange: Exchange) -> String {
    let request = exchange.description.examples[exchange.example].request
    let name = request.map { exchange.description.requests[$0].name } ?? ""
    return "\(exchange.name) \(name) \(exchange.received.count)"
  }

  @Test func noExceptionIsSuperfluous() throws {
    let inexact = try Self.exchanges.filter { try answer($0) != $0.received }
    #expect(Set(inexact.map(key)) == Set(Self.others.keys))
  }

  @Test(arguments: exchanges) func theSamplesBytes(exchange: Exchange) throws {
    let answer = try answer(exchange)
    guard Self.others[key(exchange)] != nil else {
      #expect(
        answer == exchange.received, "\(Hexadecimal.string(answer)), not \(Hexadecimal.string(exchange.received))")
      return
    }
    var description = exchange.description
    description.examples = [exchange.description.examples[exchange.example]]
    description.examples[0].received = answer
    #expect(try ExampleCheck(description).problems() == [])
  }
}
