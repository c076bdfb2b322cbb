// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// An accessory's status and identity for people: rows for `Table.facts`.
package enum StatusView {
  /// Rows for the state, the fault code and the progress.
  package static func facts(_ status: AccessoryStatus) -> [(String, String)] {
    [
      ("State", status.state.word), ("Fault", status.faultCode.map { String($0) } ?? "none"),
      ("Progress", status.progress.map { "\($0) %" } ?? "-"),
    ]
  }

  /// Rows for the identity. The accessory's texts are escaped.
  package static func facts(_ identity: AccessoryIdentity) -> [(String, String)] {
    [
      ("Manufacturer", identity.manufacturer), ("Name", identity.name), ("Model", identity.model),
      ("Serial", identity.serialNumber), ("Firmware", identity.firmwareRevision),
      ("Hardware", identity.hardwareRevision),
    ].map { ($0, $1.isEmpty ? "-" : SafeText.escape($1)) }
  }
}
