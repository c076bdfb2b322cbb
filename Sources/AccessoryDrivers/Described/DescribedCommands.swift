// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryLink
import AccessoryProtocols

extension ProtocolDescription {
  /// The description's requests as commands that are called by name.
  var commands: [CommandDescription] {
    requests.map { request in
      CommandDescription(
        request.name, request.summary.isEmpty ? "Asks for \(request.name)" : request.summary,
        request.arguments.map(\.described), results: results(of: request).map { .init($0.name, unit: $0.unit) },
        isWrite: request.isWrite, settings: settings(of: request))
    }
  }

  /// The values that a request sets, without hidden ones.
  private func settings(of request: Request) -> [CommandDescription.Setting] {
    guard !request.sets.isEmpty else { return [] }
    let hidden = Set(messages.flatMap(\.fields).filter(\.isHidden).map(\.name))
    return request.sets.filter { !hidden.contains($0.field) }.map { setting in
      switch setting.source {
      case .value(.list(let words)):
        .init(setting.field, .value(words.isEmpty ? "none" : words.map(\.asExampleText).joined(separator: ",")))
      case .value(let value): .init(setting.field, .value(value.asExampleText))
      case .argument(let name):
        .init(setting.field, request.arguments.first { $0.name == name }?.source ?? .argument(name))
      }
    }
  }

  /// The fields of a request's reply, in order and without duplicates.
  func results(of request: Request) -> [Field] {
    guard let reply = request.reply else { return [] }
    var fields: [Field] = []
    for field in messages[reply].fields where !field.isHidden && !fields.contains(where: { $0.name == field.name }) {
      fields.append(field)
    }
    return fields
  }
}

extension ProtocolDescription.Argument {
  /// The argument as the user types it.
  var described: CommandDescription.Argument {
    if !words.isEmpty {
      let word = defaultValue.flatMap { number in words.first { $0.value == number }?.key }
      return .init(name, .choice(words.keys.sorted()), defaultValue: word.map { .text($0) })
    }
    // A raw number is in the unit only where it isn't scaled.
    let unit = formula.linear?.isRaw == true ? unit : nil
    return .init(name, .whole(range), unit: unit, defaultValue: defaultValue.map { .whole($0) })
  }

  /// How a value follows from the argument.
  fileprivate var source: CommandDescription.Setting.Source {
    guard words.isEmpty, let linear = formula.linear, let offset = linear.offset else { return .argument(name) }
    return .argument(name, offset: offset, numerator: linear.factor, denominator: linear.divisor)
  }

  /// The raw number of the argument in a call.
  func raw(_ call: CommandCall) -> Int {
    words.isEmpty ? call.whole(name) : words[call.text(name)] ?? 0
  }
}
