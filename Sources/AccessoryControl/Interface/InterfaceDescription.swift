// SPDX-License-Identifier: Apache-2.0

/// A Varlink interface: its types, methods and errors.
package struct InterfaceDescription: Sendable {
  /// A field of a structure.
  package struct Field: Sendable, Hashable {
    package let name: String
    package let type: FieldType
  }

  /// The type of a field.
  package indirect enum FieldType: Sendable, Hashable {
    case bool, int, float, string, object
    case named(String)
    case optional(FieldType)
    case array(FieldType)
    case map(FieldType)
    case structure([Field])
    case enumeration([String])
  }

  /// The parameters and the reply of a method.
  package struct Method: Sendable, Hashable {
    package let input, output: [Field]
  }

  /// The interface's name ("accessorybridge.Bridge").
  package let name: String
  /// The text of the definition.
  package let text: String
  package let types: [String: FieldType]
  package let methods: [String: Method]
  package let errors: [String: [Field]]
}

// MARK: - Checking

extension InterfaceDescription {
  /// The path of the first field in `values` that `fields` doesn't allow ("device.usb.bus"), because it is missing,
  /// unknown or of another type; nil when all fields are valid.
  package func firstProblem(in values: [String: JSON], _ fields: [Field]) -> String? {
    for field in fields {
      if let problem = firstProblem(in: values[field.name] ?? .null, field.type) {
        return problem.isEmpty ? field.name : "\(field.name).\(problem)"
      }
    }
    if values.count <= fields.count && values.keys.allSatisfy({ name in fields.contains { $0.name == name } }) {
      return nil
    }
    return values.keys.sorted().first { name in !fields.contains { $0.name == name } }
  }

  /// The path in `value` of the first part that doesn't fit `type`; empty for `value` itself, nil when it fits.
  private func firstProblem(in value: JSON, _ type: FieldType) -> String? {
    switch (type, value) {
    case (.optional, .null): return nil
    case (.optional(let type), _): return firstProblem(in: value, type)
    case (.named(let name), _): return types[name].map { firstProblem(in: value, $0) } ?? ""
    case (.bool, .bool), (.float, .number), (.string, .string), (.object, .object): return nil
    case (.int, .number(let digits)): return Int64(digits) == nil ? "" : nil
    case (.enumeration(let names), .string(let name)): return names.contains(name) ? nil : ""
    case (.structure(let fields), .object(let values)): return firstProblem(in: values, fields)
    case (.array(let type), .array(let values)):
      return values.enumerated().lazy.compactMap { Self.join($0, firstProblem(in: $1, type)) }.first
    case (.map(let type), .object(let values)):
      return values.sorted { $0.key < $1.key }.lazy.compactMap { Self.join($0, firstProblem(in: $1, type)) }.first
    default: return ""
    }
  }

  private static func join(_ place: some CustomStringConvertible, _ problem: String?) -> String? {
    problem.map { $0.isEmpty ? "\(place)" : "\(place).\($0)" }
  }
}
