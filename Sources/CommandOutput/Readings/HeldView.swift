// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console

/// Where an accessory stands with the service that holds it, for people.
package enum HeldView {
  /// "attached", "try 2 of 3", "failed": for a column.
  package static func word(_ accessory: Bridge.Accessory) -> String {
    accessory.state == .waiting ? tryNumber(accessory) ?? "waiting" : accessory.state.rawValue
  }

  /// "attached", "lent to screen (pid 7)", "waiting: try 2 of 3 in 1.5 s", "failed".
  package static func state(_ accessory: Bridge.Accessory) -> String {
    switch accessory.state {
    case .lent: return "lent" + (accessory.holder.map { " to \(SafeText.escape($0))" } ?? "")
    case .waiting:
      guard let number = tryNumber(accessory) else { return "waiting until somebody asks for something" }
      guard let pause = accessory.next_try_ms else { return "waiting until it is there again" }
      return "waiting: \(number) in \(AgeView.text(pause))"
    case .opening, .attached, .failed: return accessory.state.rawValue
    }
  }

  /// Nil where none is counted: it is closed because nobody has anything for it to do.
  private static func tryNumber(_ accessory: Bridge.Accessory) -> String? {
    guard accessory.tries > 0 else { return nil }
    return "try \(accessory.tries)" + (accessory.tries_limit.map { " of \($0)" } ?? "")
  }

  /// Rows for `Table.facts`: the state, the profile that is applied, and why it isn't attached.
  package static func facts(_ accessory: Bridge.Accessory) -> [(String, String)] {
    var rows = [
      ("Service", state(accessory)), ("Profile", accessory.profile.map { SafeText.escape($0, limit: 64) } ?? "none"),
    ]
    if accessory.state != .attached, let problem = accessory.problem {
      rows.append(("Problem", SafeText.escape(problem.message, limit: 300)))
    }
    if let writes = accessory.writes { rows.append(("Writes", writes.rawValue)) }
    return rows
  }
}

/// A service for people.
package enum ServiceView {
  /// Rows for `Table.facts`: numbers with what there may be at most.
  package static func facts(_ service: Bridge.GetService.Reply, place: String) -> [(String, String)] {
    let limits = service.limits
    return [
      (
        "Service",
        "\(SafeText.escape(service.product)) \(SafeText.escape(service.version)), process \(service.process)"
      ),
      ("Runs for", AgeView.text(service.uptime_ms)), ("Socket", SafeText.escape(service.socket ?? place)),
      ("Accessories", "\(service.accessories) of \(limits.accessories)"),
      ("Attached", "\(service.attached) of \(limits.attached)"),
      ("Clients", "\(service.clients) of \(limits.clients), \(limits.clients_of_one_user) of one user"),
    ]
  }

  /// What it has, a row each; none where it has nothing.
  package static func table(_ accessories: [Bridge.Accessory], _ style: Style = .standardOutput) -> [String] {
    guard !accessories.isEmpty else { return [] }
    var table = Table(["ACCESSORY", "STATE", "PROFILE", "PROBLEM"])
    for accessory in accessories {
      let problem = accessory.state == .attached ? nil : accessory.problem?.message
      table.add([
        Table.cell(accessory.device.id), HeldView.word(accessory), Table.cell(accessory.profile), Table.cell(problem),
      ])
    }
    return table.lines(style)
  }
}
