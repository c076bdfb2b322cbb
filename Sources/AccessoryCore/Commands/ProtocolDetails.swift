// SPDX-License-Identifier: Apache-2.0

/// What is known of an accessory's protocol since it was opened.
public struct ProtocolDetails: Sendable, Hashable {
  /// The protocol's name.
  public var name: String
  /// The boot id, which changes when the accessory restarts; nil when the protocol has none.
  public var bootID: UInt32?
  /// The size of the largest payload that the accessory accepts, in bytes.
  public var largestPayload: Int
  /// How many requests may be unanswered at a time.
  public var window: Int
  /// How many fields of received frames were missing or had impossible values since the accessory was opened. They
  /// count as unknown. Nil for protocols in Swift, which don't count them.
  public var unreadableFields: UInt64?

  /// Details with these values.
  public init(
    name: String, bootID: UInt32? = nil, largestPayload: Int, window: Int, unreadableFields: UInt64? = nil
  ) {
    self.unreadableFields = unreadableFields
    self.name = name
    self.bootID = bootID
    self.largestPayload = largestPayload
    self.window = window
  }
}

extension ProtocolDetails: Codable {
  private enum CodingKeys: String, CodingKey {
    case name, window
    case bootID = "boot_id"
    case largestPayload = "largest_payload_bytes"
    case unreadableFields = "unreadable_fields"
  }

  /// Writes the fields of the service's interface and of JSON documents. Unknown fields are left out.
  public func encode(to encoder: any Encoder) throws {
    var fields = encoder.container(keyedBy: CodingKeys.self)
    try fields.encode(name, forKey: .name)
    try fields.encodeIfPresent(bootID.map { Hexadecimal.string($0) }, forKey: .bootID)
    try fields.encode(largestPayload, forKey: .largestPayload)
    try fields.encode(window, forKey: .window)
    try fields.encodeIfPresent(unreadableFields.map { Int(clamping: $0) }, forKey: .unreadableFields)
  }

  /// Reads what `encode` writes. A boot id that isn't hexadecimal is unknown; a negative number is an error.
  public init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    self.init(
      name: try fields.decode(String.self, forKey: .name),
      bootID: try fields.decodeIfPresent(String.self, forKey: .bootID).flatMap { UInt32($0, radix: 16) },
      largestPayload: try fields.decode(Int.self, forKey: .largestPayload),
      window: try fields.decode(Int.self, forKey: .window),
      unreadableFields: try fields.decodeIfPresent(Int.self, forKey: .unreadableFields).flatMap {
        UInt64(exactly: $0)
      })
    try ReplyLimits.check(counts: ["largest_payload_bytes": largestPayload, "window": window])
  }
}
