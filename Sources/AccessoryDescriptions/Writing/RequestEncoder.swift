// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols

/// Makes the bytes of described requests.
public struct RequestEncoder: Sendable {
  private let codec: DescribedCodec
  private let description: ProtocolDescription

  /// A writer for the requests of the codec's description, with these numbers for its parameters besides the user's.
  public init(_ codec: DescribedCodec, parameters: [String: Double] = [:]) {
    self.codec = codec
    description = codec.description.setting(parameters)
  }

  /// The bytes of a request, and the numbers of its frame's elements by index.
  ///
  /// - Parameters:
  ///   - request: The index of the request in the description.
  ///   - arguments: Raw numbers by argument name. A missing argument has its default number, or 0.
  ///   - unit: The unit that is addressed; nil: the default one.
  ///   - part: Of a Modbus request: the registers that are read instead of all that are described; nil for all.
  /// - Throws: `FrameEncodingError` if the framing has no such frame.
  public func bytes(
    _ request: Int, _ arguments: [String: Int] = [:], unit: Int? = nil,
    part: ProtocolDescription.RegisterBlock? = nil
  ) throws(FrameEncodingError) -> (bytes: [UInt8], elements: [Int: Int]) {
    let described = description.requests[request]
    var arguments = arguments
    for argument in described.arguments where arguments[argument.name] == nil {
      arguments[argument.name] = argument.defaultValue ?? 0
    }
    let address = description.units.map { (unit ?? $0.defaultUnit) &+ $0.sentOffset }
    switch described.sends {
    case .bytes(let parts):
      var numbers: [Int: Int] = [:]
      return (try write(parts, described, arguments, address, into: &numbers), [:])
    case .frame(let framing, let elements, let parts):
      var numbers = elements
      if let element = description.unitElement(of: framing) { numbers[element] = address }
      if let part { numbers.merge(ProtocolDescription.elements(reading: part)) { $1 } }
      let body = try write(parts, described, arguments, address, into: &numbers)
      return (try codec.frame(framing, numbers, body: body), numbers)
    }
  }

  private func write(
    _ parts: [ProtocolDescription.BodyPart], _ request: ProtocolDescription.Request, _ arguments: [String: Int],
    _ address: Int?, into numbers: inout [Int: Int]
  ) throws(FrameEncodingError) -> [UInt8] {
    var body: [UInt8] = []
    for part in parts {
      switch part {
      case .bytes(let bytes): body += bytes
      case .element(let place, let name): numbers[place] = arguments[name]
      case .unit(let format): body += address.flatMap(format.bytes) ?? [UInt8](repeating: 0, count: format.byteCount)
      case .parameter(let name, let count):
        guard let number = description.parameter(name)?.number.flatMap({ Int(exactly: $0) }), number >= 0 else {
          throw .missing(name)
        }
        let digits = Array(String(number).utf8)
        body += [UInt8](repeating: UInt8(ascii: "0"), count: max(0, count - digits.count)) + digits
      case .argument(let name):
        guard let raw = arguments[name], let argument = request.arguments.first(where: { $0.name == name }) else {
          continue
        }
        if let format = argument.format {
          body.append(bits: format.bits(of: raw) ?? 0, format)
        } else {
          body += Array(String(raw).utf8)
        }
      }
    }
    return body
  }
}
