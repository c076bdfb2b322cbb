// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryControl

/// The JSON Schema of what `--json` prints. A battery's numbers, words and limits are those of the vocabulary. Other parts that are types
/// of the interface have the interface's fields; each field that is new gets the widest limits of its type. All fields are required.
struct OutputSchema {
  /// The schema's text in front of the definitions.
  private let head: Substring
  /// The definitions: documents and their parts.
  private var parts: YAMLNode
  private let interface: InterfaceDescription

  /// The interface's type that a part is, and which of its fields documents leave out.
  private static let types: [(part: String, type: String, without: Set<String>)] = [
    ("device", "Device", []), ("access", "Access", []), ("usb", "USB", []), ("usb_interface", "USBInterface", []),
    ("usb_endpoint", "USBEndpoint", []), ("bluetooth", "Bluetooth", []), ("alarm", "Alarm", []),
    ("unfit_alarm", "UnfitAlarm", []), ("service_limits", "ServiceLimits", []), ("problem", "Problem", []),
    ("identity", "Identity", []), ("line", "Line", []), ("protocol", "Protocol", []),
    ("status_fields", "AccessoryStatus", []), ("temperature", "BatteryTemperature", []),
    ("battery_fields", "BatteryReading", []), ("entry", "FolderEntry", []), ("result", "CommandResult", []),
    ("last_readings", "LastReadings", []),
    // Roles are for exporters, which are clients of the service, and so is what a command sets.
    ("value_fields", "AccessoryValue", ["role"]), ("command", "Command", ["sets"]),
    // The device has its service's record in it.
    ("held", "Accessory", ["device", "protocols", "fresh_ms", "low_percent", "low_time_s", "key"]),
  ]

  /// The schema made anew from its text.
  init(_ text: String, _ interface: InterfaceDescription) throws {
    let start = try #require(text.firstRange(of: "\n  \"$defs\": {\n"))
    head = text[..<start.upperBound].dropLast(2)
    // A definition at a time: all of them are larger than a file that users write may be.
    var parts: [(String, YAMLNode)] = []
    for part in text[start.upperBound...].dropLast("\n  }\n}\n".count).split(separator: ",\n    \"") {
      let entry = try YAMLReader.read(Array("{\(part.hasPrefix("    \"") ? "" : "\"")\(part)}".utf8)).entries[0]
      parts.append((entry.key, entry.value))
    }
    (self.parts, self.interface) = (.object(parts), interface)
    for type in Self.types { grow(type.part, type.type, without: type.without) }
    self.parts.change(["battery_fields", "properties"]) { properties in
      for term in Vocabulary.battery { Self.property(term).map { properties[term.key] = $0 } }
    }
    for term in Vocabulary.battery {
      guard case .list(let measure, _, _, _, _) = term.form, let element = term.elementKey else { continue }
      self.parts.change(["temperature", "properties"]) { $0[element] = Self.number(measure.range) }
    }
    for (name, _) in parts {
      self.parts.change([name]) { part in
        guard let properties = part["properties"] else { return }
        let sorted = properties.entries.sorted { $0.key < $1.key }
        part["properties"] = .object(sorted.map { ($0.key, $0.value) })
        part["required"] = .list(sorted.map { .text($0.key) })
      }
    }
  }

  /// The schema as text.
  var text: String { head + SchemaText.text(parts, indentation: 2) + "\n}\n" }

  private mutating func grow(_ part: String, _ type: String, without left: Set<String>) {
    guard case .structure(let fields)? = interface.types[type] else { return }
    let properties = fields.filter { !left.contains($0.name) }.map { ($0.name, property($0.type)) }
    parts.change([part, "properties"]) { own in
      for (name, property) in properties where own[name] == nil { own[name] = property }
    }
  }

  // MARK: - Properties

  private static let unknown: YAMLNode = .word("null")

  private static func property(_ term: ReadingTerm<BatteryReading>) -> YAMLNode? {
    switch term.form {
    case .number(let measure, _, _): number(measure.range)
    case .word(let words, _, _):
      .object([("type", .text("string")), ("enum", .list((["unknown"] + words).map(YAMLNode.text)))])
    case .names: list(.object([("type", .text("string")), ("minLength", .number(1))]))
    case .list(let measure, _, _, _, _): term.elementKey == nil ? list(number(measure.range)) : nil
    }
  }

  private static func type(_ name: String, orNull: Bool = true) -> (String, YAMLNode) {
    ("type", orNull ? .list([.text(name), .text("null")]) : .text(name))
  }
  private static func list(_ items: YAMLNode) -> YAMLNode { .object([type("array"), ("items", items)]) }
  private static func number(_ range: ClosedRange<Int>, orNull: Bool = true) -> YAMLNode {
    .object([
      type("integer", orNull: orNull), ("minimum", .number(range.lowerBound)), ("maximum", .number(range.upperBound)),
    ])
  }

  /// A field of the interface.
  private func property(_ type: InterfaceDescription.FieldType, orNull: Bool = false) -> YAMLNode {
    func typed(_ name: String) -> (String, YAMLNode) { Self.type(name, orNull: orNull) }
    switch type {
    case .optional(let type): return property(type, orNull: true)
    case .bool: return .object([typed("boolean")])
    case .int: return Self.number(ReplyLimits.count, orNull: orNull)
    case .float: return .object([typed("number"), ("minimum", .number(0)), ("maximum", .number(1 << 53))])
    case .string: return .object([typed("string"), ("minLength", .number(1))])
    case .object, .structure: return .object([typed("object")])
    case .array(let type): return .object([typed("array"), ("items", property(type))])
    case .map(let type): return .object([typed("object"), ("additionalProperties", property(type))])
    case .enumeration(let words):
      return .object([typed("string"), ("enum", .list(words.map(YAMLNode.text) + (orNull ? [Self.unknown] : [])))])
    case .named(let name):
      guard let part = Self.types.first(where: { $0.type == name })?.part else {
        return interface.types[name].map { property($0, orNull: orNull) } ?? Self.unknown
      }
      let reference: YAMLNode = .object([SchemaText.reference(part)])
      return orNull ? .object([("anyOf", .list([reference, .object([("type", .text("null"))])]))]) : reference
    }
  }

  // MARK: - Page

  /// The rows of the page's table of documents, or of their parts. A text of the page that only adds code and links to the schema's stays.
  func rows(ofDocuments: Bool, old: [Substring]) -> [String] {
    var texts: [String: Substring] = [:]
    for line in old {
      let cells = line.split(separator: "|")
      if cells.count > 2 { texts[cells[0].filter { $0 != "`" && $0 != " " }] = cells[1].dropFirst().dropLast() }
    }
    return parts.entries.compactMap { entry in
      let fields = entry.value["properties"]?.entries.map(\.key) ?? []
      guard fields.contains("document") == ofDocuments else { return nil }
      let told = (entry.value["description"]?.scalar ?? "")
      let plain = String(told.last == "." ? told.dropLast() : told[...])
      let text = texts[entry.key].flatMap { SchemaText.plain($0) == plain ? String($0) : nil } ?? plain
      let shown = fields.filter { $0 != "document" && $0 != "schema" }.map { "`\($0)`" }.joined(separator: ", ")
      return "| `\(entry.key)` | \(text) | \(shown) |"
    }
  }
}
