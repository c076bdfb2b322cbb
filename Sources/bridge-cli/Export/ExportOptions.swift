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
      if isNamed || !(error.isNoService || error.kind == .permissionDenied) || failed == services.count {
        view.trouble(error)
      }
    }
    await feed.mirror.run(services, hooks)
  }
}
