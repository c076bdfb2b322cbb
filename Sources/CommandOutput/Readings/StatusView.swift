// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An accessory's status and identity for people: rows for `Table.facts`.
package enum StatusView {
  /// Rows for the state, the fault code and the progress, as far as they are known.
  package static func facts(_ status: AccessoryStatus) -> [(String, String)] {
    var facts: [(String, String)] = []
    if let state = status.state { facts.append(("State", state.word)) }
    if let code = status.faultCode {
      facts.append(("Fault", String(code)))
    } else if status.reportsFaults {
      facts.append(("Fault", "none"))
    }
    if let progress = status.progress { facts.append(("Progress", "\(progress) %")) }
    return facts
  }

  /// Rows for the identity, as far as it is known. The accessory's texts are escaped.
  package static func facts(_ identity: AccessoryIdentity) -> [(String, String)] {
    [
      ("Manufacturer", identity.manufacturer), ("Name", identity.name), ("Model", identity.model),
      ("Serial", identity.serialNumber), ("Firmware", identity.firmwareRevision),
      ("Hardware", identity.hardwareRevision),
    ].filter { !$1.isEmpty }.map { ($0, SafeText.escape($1)) }
  }
}
