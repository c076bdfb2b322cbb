// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// Prints what happens at an exporter: where it listens on standard output, the rest on standard error; with `--json`
/// everything on standard output.
package struct ExportView: Sendable {
  private let json: Bool

  package init(json: Bool) { self.json = json }

  package func listening(_ endpoint: String) {
    json ? ServiceLog.tell(document("listening", endpoint: endpoint)) : Output.line("\(endpoint) is open")
  }

  package func refused(_ address: IPAddress) {
    let reason = "its address is not allowed"
    json
      ? ServiceLog.tell(document("refused", client: address.description, reason: reason))
      : Output.note("\(address) was refused: \(reason)")
  }

  /// Clients were refused, for this reason.
  package func refused(because reason: String) {
    json ? ServiceLog.tell(document("refused", reason: reason)) : Output.note(reason)
  }

  /// A client has sent a command; `what` says what became of it.
  package func performed(by client: String, _ what: String) {
    json
      ? ServiceLog.tell(document("command", client: client, reason: what))
      : Output.note("command from \(client): \(SafeText.escape(what, limit: 1_000))")
  }

  /// A client of this name has connected.
  package func joined(_ client: String, from address: String) {
    json
      ? ServiceLog.tell(document("joined", client: client, reason: address))
      : Output.note("\(client.isEmpty ? "a client" : client) is connected from \(address)")
  }

  /// A client was disconnected.
  package func left(_ client: String, because reason: String) {
    json
      ? ServiceLog.tell(document("left", client: client, reason: reason))
      : Output.note("\(client) was disconnected: \(SafeText.escape(reason, limit: 1_000))")
  }

  /// Something went wrong; with `isWaiting`, it is waited for.
  package func trouble(_ error: AccessoryError, isWaiting: Bool = true) {
    let message = SafeText.escape(error.message, limit: 1_000)
    json
      ? ServiceLog.tell(document("trouble", reason: error.message))
      : Output.note(message + (isWaiting ? "; waiting for it" : ""))
  }

  /// Whether others find this machine by itself, in words for people.
  package func announced(_ text: String, isTrouble: Bool) {
    guard json else { return Output.note(text) }
    if isTrouble { ServiceLog.tell(document("trouble", reason: text)) }
  }

  private func document(
    _ event: String, endpoint: String? = nil, client: String? = nil, reason: String? = nil
  ) -> BridgeDocument {
    BridgeDocument(
      event: event, device: nil, endpoint: endpoint, path: nil, client: client,
      reason: reason)
  }
}
