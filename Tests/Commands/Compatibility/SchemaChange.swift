// SPDX-License-Identifier: Apache-2.0

/// What has become of the documents of `accessory-bridge/1` in `accessory-bridge/2`: the list in Documentation/json.md, as a
/// program. So what version 0.1 printed is held against what is printed now, in all that wasn't changed.
enum SchemaChange {
  /// What a document of the first schema would be in the second one, as far as it says that.
  static func document(_ old: Wire) -> Wire {
    guard var fields = change(old).fields, fields["schema"] == .string("accessory-bridge/1") else { return old }
    fields["schema"] = .string("accessory-bridge/2")
    if fields["noise_bytes"] != nil { trace(&fields) }
    if fields["seed"] != nil { simulator(&fields) }
    if fields["ends_lines"] == nil, let event = fields["event"]?.text { self.event(event, &fields) }
    if fields["progress"] != nil { fields["event"] = .string("progress") }
    if fields["resumptions"] != nil { fields["event"] = .string("done") }
    return .object(fields)
  }

  /// What is the same in all documents.
  private static func change(_ old: Wire) -> Wire {
    switch old {
    case .array(let elements): return .array(elements.map(change))
    case .object(let old):
      var fields = old.mapValues(change)
      if let identity = fields["identity"]?.fields {
        fields["identity"] = .object(identity.mapValues { $0 == .string("") ? .null : $0 })
      }
      if fields["payload_bytes"] != nil {
        rename("payload_hex", "hex", &fields)
        rename("payload_bytes", "size_bytes", &fields)
      }
      rename("bytes_hex", "hex", &fields)
      rename("baud_rate", "baud", &fields)
      return .object(fields)
    default: return old
    }
  }

  private static func trace(_ fields: inout [String: Wire]) {
    rename("time", "elapsed_s", &fields)
    for name in ["payload", "frame"] {
      guard let bytes = fields.removeValue(forKey: name + "_hex") else { continue }
      fields[name] = bytes == .null ? .null : .object(["hex": bytes])
    }
    if fields["summary"] == .string("") { fields["summary"] = .null }
  }

  private static func simulator(_ fields: inout [String: Wire]) {
    if case .number(let digits)? = fields["seed"] { fields["seed"] = .string(digits) }
    guard ["battery", "refused", "speed", "task"].contains(fields["event"]?.text), let text = fields["text"]?.text
    else {
      return
    }
    (fields["text"], fields["number"]) = (.null, .number(text))
  }

  private static func event(_ event: String, _ fields: inout [String: Wire]) {
    switch event {
    case "found": rename("device", "neighbour", &fields)
    case "ended": rename("devices", "neighbours", &fields)
    default: break
    }
  }

  private static func rename(_ old: String, _ new: String, _ fields: inout [String: Wire]) {
    if let value = fields.removeValue(forKey: old) { fields[new] = value }
  }

  /// Whether a text that was bytes is an object with these now, as values are.
  static func isSame(_ old: Wire, _ new: Wire) -> Bool {
    if case .string = old, case .object(let fields) = new { return fields == ["hex": old] }
    guard case (.object(let fields), .object(let others)) = (old, new) else { return old == new }
    return fields.allSatisfy { key, value in others[key].map { isSame(value, $0) } ?? false }
  }
}
