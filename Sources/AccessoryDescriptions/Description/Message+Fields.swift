// SPDX-License-Identifier: Apache-2.0

extension ProtocolDescription.Message {
  /// Whether the message's frames may have this framing. Allocates nothing.
  public func hasFraming(_ framing: Int) -> Bool { self.framing == framing || otherFramings.contains(framing) }

  /// The indices of all framings that the message's frames may have.
  public var framings: [Int] { [framing] + otherFramings }

  /// All fields that the message's body can have, in their order.
  public var fields: [ProtocolDescription.Field] {
    switch body {
    case .nothing: []
    case .fields(let steps): steps.flatMap(\.fields)
    case .tags(let tags): tags.keys.sorted().flatMap { (tags[$0] ?? []).flatMap(\.fields) }
    case .pairs(let pairs): pairs.fields.keys.sorted().compactMap { pairs.fields[$0] }
    case .columns(let columns): columns.columns.map(\.field)
    case .table(let table): table.columns.map(\.field)
    case .pattern(let pattern): pattern.parts.compactMap { if case .field(let field) = $0 { field } else { nil } }
    case .registers(let block): block.values.map(\.field)
    }
  }
}

extension ProtocolDescription.Step {
  var fields: [ProtocolDescription.Field] {
    switch self {
    case .field(let field): [field]
    case .skip: []
    case .group(let steps, _), .tail(let steps), .when(_, let steps): steps.flatMap(\.fields)
    }
  }
}
