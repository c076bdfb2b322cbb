// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import Console

/// The state of an accessory in the service that holds it, for people.
package enum HeldView {
  /// A short form for a column: "attached", "try 2 of 3", "in turns", "failed".
  package static func word(_ accessory: Bridge.Accessory) -> String {
    if accessory.absent == true { return "gone" }
    guard accessory.state == .waiting else { return accessory.state.rawValue }
    return tryNumber(accessory) ?? (accessory.next_try_ms == nil ? "waiting" : "in turns")
  }

  /// The full form: "attached", "lent to screen (pid 7)", "waiting: try 2 of 3 in 1.5 s", "failed".
  package static func state(_ accessory: Bridge.Accessory) -> String {
    if accessory.absent == true { return lastThere(accessory) ?? "gone" }
    switch accessory.state {
    case .lent: return "lent" + (accessory.holder.map { " to \(SafeText.escape($0))" } ?? "")
    case .waiting:
      guard let number = tryNumber(accessory) else {
        guard let pause = accessory.next_try_ms else { return "closed until a client sends a request" }
        return "closed, so that others can be connected: its turn is in \(AgeView.text(pause))"
      }
      guard let pause = accessory.next_try_ms else { return "waiting until it is connected again" }
      return "waiting: \(number) in \(AgeView.text(pause))"
    case .opening, .attached, .failed: return accessory.state.rawValue
    }
  }

  /// "gone, last there 3 hours ago"; nil for an accessory that is there.
  package static func lastThere(_ accessory: Bridge.Accessory, now: Double = WallClock.seconds) -> String? {
    accessory.last_seen.map { "gone, last there \(Amount.time(seconds: now - $0)) ago" }
  }

  /// Nil if attempts aren't counted: the service has closed the accessory because it was idle.
  private static func tryNumber(_ accessory: Bridge.Accessory) -> String? {
    guard accessory.tries > 0 else { return nil }
    return "try \(accessory.tries)" + (accessory.tries_limit.map { " of \($0)" } ?? "")
  }

  /// Rows for `Table.facts`: the state, the profile, and why the accessory isn't attached.
  package static func facts(_ accessory: Bridge.Accessory) -> [(String, String)] {
    var rows = [
      ("Service", state(accessory)), ("Profile", accessory.profile.map { SafeText.escape($0, limit: 64) } ?? "none"),
    ]
    if accessory.state != .attached, let problem = accessory.problem {
      rows.append(("Problem", SafeText.escape(problem.message, limit: 300)))
    }
    if let missing = accessory.missing { rows.append(("Missing", SafeText.escape(missing, limit: 300))) }
    if let writes = accessory.writes { rows.append(("Writes", writes.rawValue)) }
    return rows
  }
}

/// A service, for people.
package enum ServiceView {
  /// Rows for `Table.facts`. Numbers are shown with their limits.
  package static func facts(_ service: Bridge.GetService.Reply, place: String) -> [(String, String)] {
    let limits = service.limits
    var facts = [
      (
        "Service",
        "\(SafeText.escape(service.product)) \(SafeText.escape(service.version)), process \(service.process)"
      ),
      ("Runs for", AgeView.text(service.uptime_ms)), ("Socket", SafeText.escape(service.socket ?? place, limit: 200)),
    ]
    if let readings = service.readings_socket { facts.append(("Readings", SafeText.escape(readings, limit: 200))) }
    facts += [
      ("Accessories", "\(service.accessories) of \(limits.accessories)"),
      ("Attached", "\(service.attached) of \(limits.attached)"),
      ("Clients", "\(service.clients) of \(limits.clients), \(limits.clients_of_one_user) of one user"),
    ]
    return facts
  }

  /// A table of the service's accessories; empty if it has none. `columns` is the terminal's width; nil without a terminal.
  package static func table(
    _ accessories: [Bridge.Accessory], _ style: Style = .standardOutput, columns: Int? = nil
  ) -> [String] {
    guard !accessories.isEmpty else { return [] }
    var table = Table(["ACCESSORY", "STATE", "PROFILE", "PROBLEM"], optional: [2], endsInText: true)
    for accessory in accessories {
      let message = accessory.state == .attached ? accessory.missing : accessory.problem?.message
      let problem = message.map { SafeText.escape($0, limit: 300) }
      table.add([
        Table.cell(accessory.device.id), HeldView.word(accessory), Table.cell(accessory.profile), problem ?? "-",
      ])
    }
    return table.lines(style, columns: columns)
  }
}
