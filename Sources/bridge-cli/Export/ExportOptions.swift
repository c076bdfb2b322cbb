// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryExport
import AccessoryIO
import ArgumentParser
import CommandOutput

/// Options that name the services whose accessories are exported.
struct ExportedServices: ParsableArguments {
  @Option(help: .value("path", "The socket of the service to read from; may be repeated."), completion: .file())
  var socket: [String] = []

  var places: [String] { socket.isEmpty ? ServicePlace.allReadings() : socket }

  /// Follows the services until the task is cancelled. Services that don't run are waited for.
  func follow(with feed: ReadingsFeed, _ view: ExportView) async {
    let services = places.map { ServiceMirror.Service($0, isExpected: !socket.isEmpty) }
    let isNamed = !socket.isEmpty
    let count = Locked(0)
    var hooks = ServiceMirror.Hooks()
    hooks.trouble = { error in
      // Of the usual sockets, some are never there.
      let failed = count.withLock { count in
        count += 1
        return count
      }
      if isNamed || ![.notFound, .permissionDenied].contains(error.kind) || failed == services.count {
        view.trouble(error)
      }
    }
    await feed.mirror.run(services, hooks)
  }
}

/// Prints what happens at an exporter: where it listens on standard output, the rest on standard error; with `--json`
/// everything on standard output.
struct ExportView: Sendable {
  let json: Bool

  func listening(_ endpoint: String) {
    json ? ServiceLog.tell(document("listening", endpoint: endpoint)) : Output.line("\(endpoint) is open")
  }

  func refused(_ address: IPAddress) {
    let reason = "its address is not allowed"
    json
      ? ServiceLog.tell(document("refused", client: address.description, reason: reason))
      : Output.note("\(address) was refused: \(reason)")
  }

  func trouble(_ error: AccessoryError) {
    let message = SafeText.escape(error.message, limit: 1_000)
    json
      ? ServiceLog.tell(document("trouble", reason: error.message)) : Output.note("\(message); waiting for it")
  }

  private func document(
    _ event: String, endpoint: String? = nil, client: String? = nil, reason: String? = nil
  ) -> BridgeDocument {
    BridgeDocument(
      event: event, device: nil, endpoint: endpoint, path: nil, client: client,
      reason: reason)
  }
}

extension ListeningPlace {
  /// Prints a warning if other machines can read what is served.
  func note(_ allow: [NetworkArgument]) {
    guard !isLoopback else { return }
    Output.note(
      "machines in \(allow.map(\.network.description).joined(separator: " or ")) can read what is served at \(text). The "
        + "connection is not encrypted")
  }
}
