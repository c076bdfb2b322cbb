// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols

/// A request of a described protocol, ready to be sent.
public struct DescribedRequest: Sendable, Hashable {
  /// Its place in the description.
  public var index: Int
  /// What errors call it.
  public var name: String
  /// What is sent.
  public var bytes: [UInt8]
  /// The numbers of its frame's elements, by their places.
  public var elements: [Int: Int]

  /// The request at place `index` of the writer's description, with these raw numbers as its arguments. Throws
  /// `misconfigured` when the framing has no such frame.
  public init(
    _ index: Int, _ arguments: [String: Int] = [:], of description: ProtocolDescription, by writer: RequestWriter
  ) throws(AccessoryError) {
    self.index = index
    name = description.requests[index].name
    do throws(FrameEncodingError) {
      (bytes, elements) = try writer.bytes(index, arguments)
    } catch {
      throw AccessoryError(.misconfigured, "the request \(name) can't be sent like this: \(error)")
    }
  }
}
