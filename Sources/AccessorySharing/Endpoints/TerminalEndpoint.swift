// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A pseudo-terminal with a link to it, which other programs open like the device's serial port.
///
/// Where the device has a serial line, the settings that programs make on the terminal are passed on to it. DTR, RTS
/// and breaks aren't passed on: a pseudo-terminal has no modem lines, and the kernel doesn't report a break.
public actor TerminalEndpoint: SharingEndpoint {
  /// The path of the link.
  public nonisolated let label: String
  private let mode: UInt16?
  private let hub: SharingHub
  private var opened: (terminal: PseudoTerminal, link: TerminalLink, id: HubClient.ID)?
  private var isOver = false
  private var follower: Task<Void, Never>?
  private let onTrouble: @Sendable (AccessoryError) -> Void

  /// Creates a terminal and a link to it at `path`. `mode` are the permission bits of the terminal's node; nil keeps
  /// the system's. When the device is unplugged, the terminal is hung up, and another one is created when the device is
  /// back, unless the hub's rules keep the terminal. `onTrouble` receives the error when that fails.
  ///
  /// Throws `misconfigured` when something other than a link to a terminal is at the path, and the errors of the system
  /// calls.
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

  /// The path of the terminal's node; nil while there is no terminal.
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
    let id = await hub.join(terminal.transport, name: label, kind: .terminal(terminal), isListening: false) {
      [weak self] in
      Task { await self?.lost(terminal.path) }
    }
    await use.begin(id)
    opened = (terminal, link, id)
    if isOver { await unplug() }
  }

  /// The hub has closed a terminal whose program was too slow: another one takes its place.
  private func lost(_ path: String) async {
    guard opened?.terminal.path == path, !isOver else { return }
    await unplug()
    let hasDevice = await hub.hasDevice
    if hasDevice || hub.rules.unplug == .keep { await change(true) }
  }

  private func unplug() async {
    guard let (terminal, link, id) = opened else { return }
    opened = nil
    link.remove()
    await hub.dismiss(id, "it was closed")
    await terminal.transport.close()
  }

  /// Unless the rules keep the terminal, removes it when the device goes, and creates another one when the device comes back.
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

/// Reports to the hub when a program opens the terminal, and when the last program closes it.
private final class TerminalUse: Sendable {
  private let hub: SharingHub
  private let state = Locked<(id: HubClient.ID?, isUsed: Bool)>((nil, false))

  init(_ hub: SharingHub) { self.hub = hub }

  /// Called on the I/O thread.
  func change(_ isUsed: Bool) {
    let id = state.withLock { state in
      state.isUsed = isUsed
      return state.id
    }
    if let id { hub.enter { $0.setListening(id, isUsed) } }
  }

  /// Sets the number of the terminal as a client of the hub. A change that came before is applied now. This runs in the hub's
  /// isolation, so later changes are applied after it.
  func begin(_ id: HubClient.ID) async {
    await hub.setListening(id) { [self] in
      state.withLock { state in
        state.id = id
        return state.isUsed
      }
    }
  }
}

extension SharingHub {
  fileprivate func setListening(_ id: HubClient.ID, _ isListening: @Sendable () -> Bool) {
    setListening(id, isListening())
  }
}
