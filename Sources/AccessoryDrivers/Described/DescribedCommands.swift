// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension ProtocolDescription {
  /// The description's requests as commands that are called by name.
  var commands: [CommandDescription] {
    requests.map { request in
      CommandDescription(
        request.name, request.summary.isEmpty ? "Asks for \(request.name)" : request.summary,
        request.arguments.map(\.described), results: results(of: request).map { .init($0.name, unit: $0.unit) },
        isWrite: request.isWrite)
    }
  }

  /// The values that answer a request, in the order of their fields; none twice.
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
  /// The argument as a person types it.
  var described: CommandDescription.Argument {
    if !words.isEmpty {
      let word = standard.flatMap { number in words.first { $0.value == number }?.key }
      return .init(name, .choice(words.keys.sorted()), standard: word.map { .text($0) })
    }
    return .init(name, .whole(range), unit: unit, standard: standard.map { .whole($0) })
  }

  /// The raw number of what was typed.
  func raw(_ call: CommandCall) -> Int {
    words.isEmpty ? call.whole(name) : words[call.text(name)] ?? 0
  }
}
