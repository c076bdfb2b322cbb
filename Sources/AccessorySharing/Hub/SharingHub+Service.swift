// SPDX-License-Identifier: Apache-2.0

import AccessoryIO

// The service uses these methods. It also uses the device itself, and lends it to its hubs for a time.

extension SharingHub {
  /// The number of clients that receive the device's bytes: connections, and terminals that a program has open.
  package var listenerCount: Int { clients.values.count { $0.isListening && !$0.isLeaving } }

  /// Adds a client of this machine with the name `name`, and returns when the client is gone. A hub without a device closes the
  /// connection at once. When the task is cancelled, the client is disconnected. By frames and without `allowsWrites`, its frames
  /// that may change something in the accessory are refused.
  package nonisolated func serve(_ client: any Transport, name: String, allowsWrites: Bool = true) async {
    let (end, continuation) = AsyncStream<Void>.makeStream()
    let id = await admit(client, name: name, allowsWrites: allowsWrites) { continuation.finish() }
    await withTaskCancellationHandler {
      for await _ in end {}
    } onCancel: {
      onThread { hub in if let id, let client = hub.clients[id] { hub.remove(client) } }
    }
  }

  private func admit(
    _ client: any Transport, name: String, allowsWrites: Bool, onLeave: @escaping @Sendable () -> Void
  ) -> HubClient.ID? {
    guard device != nil else {
      client.beginClose()
      onLeave()
      return nil
    }
    let id = join(client, name: name, kind: .local, allowsWrites: allowsWrites, onLeave: onLeave)
    // The client has already left, or the hub is closed. Finishing the stream twice does no harm.
    if clients[id] == nil { onLeave() }
    return id
  }

  /// Repeats the clients' changes to the line after the line was opened again with its usual settings. Returns when the changes are
  /// made.
  package func lineWasReopened() async {
    guard let transport = device, let line = transport.line else { return }
    await lineWork?.value
    guard device === transport, let status = try? await line.status() else { return }
    for request in memory.opened(status) {
      switch request {
      case .change(let changes): _ = try? await line.change(changes)
      case .set(let raised, let lowered): try? await line.set(raising: raised, lowering: lowered)
      case .setBreak, .pulse, .purge, .look: continue
      }
      memory.note(request)
    }
  }
}
