// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import CommandOutput

/// An accessory of a fleet, in documents and for people.
extension FleetAccessory {
  /// The fields that name its place.
  var place: FleetPlace {
    FleetPlace(gateway: key.gateway.text, online: isOnline, connected: state.isConnected)
  }

  /// A document with the fields of its place.
  func document<Document: Encodable>(_ document: Document) -> InFleet<Document> { InFleet(document, place) }

  /// Its device, with the gateway's record of it.
  var device: DeviceDocument { DeviceDocument(state.device, held: state.record) }

  /// Its connection in a word: "attached", "offline" when its gateway is, "gone" when it is unplugged.
  var word: String {
    if !isOnline { return "offline" }
    if !state.isConnected { return "gone" }
    return state.record.map(HeldView.word) ?? "attached"
  }

  /// Rows for `Table.facts`: the gateway, and why the accessory can't be reached, where that is so.
  var facts: [(String, String)] {
    var rows = [("Gateway", key.gateway.text)]
    if !isOnline {
      rows.append(("Connection", "the gateway is offline"))
    } else if !state.isConnected {
      let problem = state.problem.map { ": " + SafeText.escape($0.message, limit: 300) } ?? ""
      rows.append(("Connection", "the accessory is not connected" + problem))
    }
    if let missing = state.missing { rows.append(("Missing", SafeText.escape(missing, limit: 300))) }
    return rows
  }

  /// The error of a reading that the broker doesn't have.
  func missing(_ what: String) -> AccessoryError {
    guard state.isConnected else {
      return AccessoryError(.disconnected, "\(key) is not connected, and the broker has no \(what) of it")
    }
    return AccessoryError(.unsupported, "\(key) hasn't reported its \(what)")
  }
}
