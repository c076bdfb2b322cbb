// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

/// What an accessory is doing, and who it is, for people: rows for `Table.facts`.
package enum StatusView {
  /// The state by its name in the documents, the fault's number, and how much of the work is done.
  package static func facts(_ status: AccessoryStatus) -> [(String, String)] {
    [
      ("State", status.state.word), ("Fault", status.faultCode.map { String($0) } ?? "none"),
      ("Progress", status.progress.map { "\($0) %" } ?? "-"),
    ]
  }

  /// The accessory's texts, made harmless.
  package static func facts(_ identity: AccessoryIdentity) -> [(String, String)] {
    [
      ("Manufacturer", identity.manufacturer), ("Name", identity.name), ("Model", identity.model),
      ("Serial", identity.serialNumber), ("Firmware", identity.firmwareRevision),
      ("Hardware", identity.hardwareRevision),
    ].map { ($0, $1.isEmpty ? "-" : SafeText.escape($1)) }
  }
}
