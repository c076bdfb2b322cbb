// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

/// A request of a described protocol, ready to be sent.
public struct DescribedRequest: Sendable, Hashable {
  /// Its index in the description's list of requests.
  public var index: Int
  /// The unit that it is sent to; nil when the protocol has no units.
  public var unit: Int?
  /// Its name in error messages.
  public var name: String
  /// How often it is sent at most when there is no reply; nil for the protocol's number.
  public var tries: Int?
  /// The bytes of the frame.
  public var bytes: [UInt8]
  /// The numbers of the frame's elements, by their indices.
  public var elements: [Int: Int]
  /// The registers that it reads, where those are only a part of the described ones; nil for all.
  public var part: ProtocolDescription.RegisterBlock?

  /// The request at `index` in the writer's description, with these raw numbers as its arguments, to this unit or the
  /// default unit. With `part`, a Modbus request reads only these registers. Throws `misconfigured` when the protocol doesn't have this unit, or its framing can't encode such a
  /// frame.
  public init(
    _ index: Int, _ arguments: [String: Int] = [:], unit: Int? = nil, part: ProtocolDescription.RegisterBlock? = nil,
    of description: ProtocolDescription, by writer: RequestEncoder
  ) throws(AccessoryError) {
    (self.index, self.part) = (index, part)
    name = description.requests[index].name
    self.unit = try description.checked(unit)
    do throws(FrameEncodingError) {
      (bytes, elements) = try writer.bytes(index, arguments, unit: unit, part: part)
    } catch {
      throw AccessoryError(.misconfigured, "the request \(name) can't be sent: \(error)")
    }
  }
}

extension ProtocolDescription {
  /// The unit to use: `unit`, the default unit if it is nil, or nil when the protocol has no units. Throws
  /// `misconfigured` when the protocol doesn't have this unit.
  public func checked(_ unit: Int?) throws(AccessoryError) -> Int? {
    guard let units else {
      guard let unit else { return nil }
      throw AccessoryError(
        .misconfigured, "the protocol \(name) has no units, so there is no unit \(unit)")
    }
    let unit = unit ?? units.defaultUnit
    guard units.range.contains(unit) else {
      throw AccessoryError(
        .misconfigured,
        "the units of the protocol \(name) are \(units.range.lowerBound) to \(units.range.upperBound), not \(unit)")
    }
    return unit
  }
}
