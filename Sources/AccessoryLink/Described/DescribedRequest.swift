// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// A request of a described protocol, ready to be sent.
public struct DescribedRequest: Sendable, Hashable {
  /// Its place in the description.
  public var index: Int
  /// The unit that it is for; nil where its protocol has none.
  public var unit: Int?
  /// What errors call it.
  public var name: String
  /// How often it is sent at most if there is no answer; nil for the protocol's number.
  public var tries: Int?
  /// What is sent.
  public var bytes: [UInt8]
  /// The numbers of its frame's elements, by their places.
  public var elements: [Int: Int]

  /// The request at place `index` of the writer's description, with these raw numbers as its arguments, for this
  /// unit, or the standard one. Throws `misconfigured` when the protocol has no such unit, or the framing no such frame.
  public init(
    _ index: Int, _ arguments: [String: Int] = [:], unit: Int? = nil, of description: ProtocolDescription,
    by writer: RequestWriter
  ) throws(AccessoryError) {
    self.index = index
    name = description.requests[index].name
    self.unit = try description.checked(unit)
    do throws(FrameEncodingError) {
      (bytes, elements) = try writer.bytes(index, arguments, unit: unit)
    } catch {
      throw AccessoryError(.misconfigured, "the request \(name) can't be sent like this: \(error)")
    }
  }
}

extension ProtocolDescription {
  /// The unit that is meant: this one, or the standard one, or nil where the protocol has no units. Throws `misconfigured` if it
  /// can't be this one.
  public func checked(_ unit: Int?) throws(AccessoryError) -> Int? {
    guard let units else {
      guard let unit else { return nil }
      throw AccessoryError(
        .misconfigured, "\(name) accessories are alone on their line, so that there is no unit \(unit)")
    }
    let unit = unit ?? units.standard
    guard units.range.contains(unit) else {
      throw AccessoryError(
        .misconfigured,
        "units of \(name) accessories are \(units.range.lowerBound) to \(units.range.upperBound), not \(unit)")
    }
    return unit
  }
}
