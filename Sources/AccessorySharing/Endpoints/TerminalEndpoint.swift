// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A pseudo-terminal, with a link to it, that other programs open like the device's serial port.
///
/// Where the device is a line, the settings that programs make on the terminal are passed on to it.
/// DTR, RTS and a break don't pass a pseudo-terminal: the kernel keeps no modem lines for it and tells nobody of a break.
public actor TerminalEndpoint: SharingEndpoint {
  /// The path of the link.
  public nonisolated let label: String
  private let mode: UInt16?
  private let hub: SharingHub
  private var opened: (terminal: PseudoTerminal, link: TerminalLink, id: Sharer.ID)?
  private var isOver = false
  private var follower: Task<Void, Never>?
  private let onTrouble: @Sendable (AccessoryError) -> Void

  /// Makes a terminal, and a link to it at `path`; its node gets `mode`, or the system's usual one. When the device is
  /// unplugged the terminal is hung up, and another one is made when the device is back, unless the hub's rules keep it.
  /// `onTrouble` is told when that isn't possible.
  ///
  /// Throws `misconfigured` when something else than a link to a terminal is at the path, and what the system says.
  public static func open(
    at path: String, mode: UInt16? = nil, for hub: SharingHub, onTrouble: @escaping @Sendable (AccessoryError) -> Void
  ) async throws(AccessoryError) -> TerminalEndpoint {
    let endpoint = TerminalEndpoint(path, mode, hub, onTrouble)
    try await endpoint.plugIn()
    await endpoint.follow()
    return endpoint
  }

  private init(
    _ path: String, _ mode: UInt16?, _ hub: SharingHub, _ onTrouble: @escaping @Sendable (AccessoryError) -> Void
  ) {
    (label, self.mode, self.hub, self.onTrouble) = (path, mode, hub, onTrouble)
  }

  /// The terminal's own node; nil while there is none.
  public var node: String? { opened?.terminal.path }

  private func plugIn() async throws(AccessoryError) {
    let hub = hub
    let use = TerminalUse(hub)
    let terminal = try await PseudoTerminal.open(mode: mode, io: hub.io) { use.change($0) }
    let link: TerminalLink
    do throws(AccessoryError) {
      link = try TerminalLink(label, to: terminal.path)
    } catch {
      terminal.transport.beginClose()
      throw error
    }
    let id = await hub.join(terminal.transport, name: label, kind: .terminal(terminal), isListening: false)
    await use.begin(id)
    opened = (terminal, link, id)
    if isOver { await unplug() }
  }

  private func unplug() async {
    guard let (terminal, link, id) = opened else { return }
    opened = nil
    link.remove()
    await hub.dismiss(id, "it was closed")
    await terminal.transport.close()
  }

  /// Goes with the device.
  private func follow() async {
    let (changes, continuation) = AsyncStream<Bool>.makeStream(bufferingPolicy: .unbounded)
    guard hub.rules.unplug == .hangUp else { return }
    await hub.watchDevice { continuation.yield($0) }
    follower = Task { [weak self] in
      for await isThere in changes { await self?.change(isThere) }
    }
  }

  private func change(_ isThere: Bool) async {
    guard isThere else { return await unplug() }
    guard opened == nil, !isOver else { return }
    do throws(AccessoryError) {
      try await plugIn()
    } catch {
      onTrouble(error)
    }
  }

  /// Hangs the terminal up and removes the link.
  public func close() async {
    isOver = true
    follower?.cancel()
    await unplug()
  }
}

/// Tells a hub whether somebody has the terminal open.
private final class TerminalUse: Sendable {
  private let hub: SharingHub
  private let state = Locked<(id: Sharer.ID?, isUsed: Bool)>((nil, false))

  init(_ hub: SharingHub) { self.hub = hub }

  /// On the I/O thread.
  func change(_ isUsed: Bool) {
    let id = state.withLock { state in
      state.isUsed = isUsed
      return state.id
    }
    if let id { hub.enter { $0.setListening(id, isUsed) } }
  }

  func begin(_ id: Sharer.ID) async {
    let isUsed = state.withLock { state in
      state.id = id
      return state.isUsed
    }
    await hub.setListening(id, isUsed)
  }
}
