// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A link to pseudo-terminals, which other programs open like the device's serial port.
///
/// Each program that opens the link gets a terminal of its own: what one leaves unread doesn't reach the next one. The kernel keeps unread
/// bytes in a terminal, and reports too late that a program has opened it for them to be discarded. So a terminal gets no bytes
/// before a program has opened it and the link leads to another one. When the program has closed it, it is emptied, and the link may lead
/// to it again.
///
/// If the device has a serial line, the settings that programs make on the terminal are passed on to it. DTR, RTS and
/// breaks aren't passed on: a pseudo-terminal has no modem lines, and the kernel doesn't report a break.
public actor TerminalEndpoint: SharingEndpoint {
  private struct Opened {
    let id: HubClient.ID
    let path: String
    let transport: DescriptorTransport
    let use: TerminalUse
  }

  /// The path of the link.
  public nonisolated let label: String
  private let mode: UInt16?
  private let hub: SharingHub
  private let limit = EndpointLimit()
  /// The link; nil while there is no terminal.
  private var link: TerminalLink?
  /// All terminals. The link leads to the first one while no program has that open.
  private var terminals: [Opened] = []
  /// When the link began to lead to its terminal.
  private var moved: MonotonicTime
  /// When the last timer for closing terminals expires.
  private var timer: MonotonicTime?
  private var isOver = false
  private var follower: Task<Void, Never>?
  /// Yields when a program has opened a terminal or the last one has closed it, when the hub has closed a terminal, and when the device
  /// has come or gone.
  private let changes: AsyncStream<Void>.Continuation
  private let onTrouble: @Sendable (AccessoryError) -> Void

  /// The most terminals. Programs that open the link while all of them are open share the last one.
  private static let most = 64

  /// Creates a terminal and a link to it at `path`. `mode` are the permission bits of the terminal's node; nil keeps
  /// the system's. When the device is unplugged, the terminal is hung up, and another one is created when the device is
  /// back, unless the hub's rules keep the terminal. `onTrouble` receives the error when that fails.
  ///
  /// Throws `misconfigured` when something other than a link to a terminal is at the path, and the errors of the system
  /// calls.
  public static func open(
    at path: String, mode: UInt16? = nil, for hub: SharingHub, onTrouble: @escaping @Sendable (AccessoryError) -> Void
  ) async throws(AccessoryError) -> TerminalEndpoint {
    let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let endpoint = TerminalEndpoint(path, mode, hub, continuation, onTrouble)
    do throws(AccessoryError) {
      try await endpoint.arrange()
    } catch {
      await endpoint.unplug()
      throw error
    }
    await endpoint.follow(changes)
    return endpoint
  }

  private init(
    _ path: String, _ mode: UInt16?, _ hub: SharingHub, _ changes: AsyncStream<Void>.Continuation,
    _ onTrouble: @escaping @Sendable (AccessoryError) -> Void
  ) {
    (label, self.mode, self.hub, self.changes, self.onTrouble) = (path, mode, hub, changes, onTrouble)
    moved = hub.clock.now
  }

  /// The path of the node to which the link leads; nil while there is no terminal.
  public var node: String? { link?.target }

  private func follow(_ all: AsyncStream<Void>) async {
    await hub.watchDevice { [changes] _ in changes.yield() }
    follower = Task { [weak self] in
      for await _ in all { await self?.changed() }
    }
  }

  private func changed() async {
    guard !isOver else { return }
    if await hub.isUnplugged { return await unplug() }
    do throws(AccessoryError) {
      try await arrange()
    } catch {
      onTrouble(error)
    }
  }

  // MARK: - Terminals

  /// Has the link lead to an empty terminal, and passes bytes to the terminals that programs have open.
  private func arrange() async throws(AccessoryError) {
    let there = await hub.clients(at: limit)
    let old = terminals.filter { !there.contains($0.id) || $0.use.isSpoilt }
    terminals.removeAll { one in old.contains { $0.use === one.use } }
    var failure: AccessoryError?
    do throws(AccessoryError) {
      try await offerEmpty()
    } catch {
      failure = error
    }
    // Only now, so that there is no moment without a link.
    await close(old)
    // The one to which the link leads may have been opened just now. Its turn comes with the next change.
    let mustShare = failure != nil || terminals.count >= Self.most
    for terminal in terminals where terminal.use.isUsed && (mustShare || terminal.path != link?.target) {
      await hub.hold(terminal.id, false)
    }
    if let failure { throw failure }
    // The next terminal exists before the first program opens it. Terminals that several programs have needed at the
    // same time stay until no program is left.
    if terminals.count < 2 { try await add() }
    if terminals.count > 2, !terminals.contains(where: \.use.isUsed) { await closeExtra() }
  }

  /// Closes all terminals but two, once the link hasn't moved for a second: a program may have followed it to one of them just now.
  private func closeExtra() async {
    let now = hub.clock.now
    if let timer, now < timer { return }
    let due = moved + .seconds(1)
    guard now >= due else {
      timer = due
      _ = hub.clock.schedule(at: due) { [changes] in changes.yield() }
      return
    }
    let extra = terminals.dropFirst(2).filter { $0.path != link?.target }
    terminals.removeAll { one in extra.contains { $0.use === one.use } }
    await close(extra)
  }

  private func offerEmpty() async throws(AccessoryError) {
    if !terminals.contains(where: \.use.isFree), terminals.count < Self.most { try await add() }
    guard let next = terminals.first(where: \.use.isFree), next.path != link?.target else { return }
    if link == nil { link = try TerminalLink(label, to: next.path) } else { try link?.lead(to: next.path) }
    moved = hub.clock.now
  }

  private func add() async throws(AccessoryError) {
    let (hub, changes) = (hub, changes)
    let use = TerminalUse(hub)
    let pseudo = try await PseudoTerminal.open(mode: mode, io: hub.io) {
      use.change($0)
      changes.yield()
    }
    let id = await hub.join(
      pseudo.transport, name: label, kind: .terminal(pseudo), isListening: false, endpoint: limit.id
    ) { changes.yield() }
    await use.begin(id)
    terminals.append(Opened(id: id, path: pseudo.path, transport: pseudo.transport, use: use))
  }

  /// Closes terminals that are no longer among the endpoint's.
  private func close(_ old: [Opened]) async {
    for terminal in old {
      if link?.target == terminal.path { removeLink() }
      await hub.dismiss(terminal.id, "it was closed")
      await terminal.transport.close()
    }
  }

  private func removeLink() {
    link?.remove()
    link = nil
  }

  private func unplug() async {
    removeLink()
    let all = terminals
    terminals = []
    await close(all)
  }

  /// Hangs the terminals up and removes the link.
  public func close() async {
    isOver = true
    changes.finish()
    await follower?.value
    await unplug()
  }
}

/// Reports to the hub when a program opens a terminal, and when the last program closes it.
private final class TerminalUse: Sendable {
  private struct State {
    var id: HubClient.ID?
    var isUsed = false
    var isSpoilt = false
  }

  private let hub: SharingHub
  private let state = Locked(State())

  init(_ hub: SharingHub) { self.hub = hub }

  /// Whether a program has the terminal open.
  var isUsed: Bool { state.withLock { $0.isUsed } }
  /// Whether the link may lead to the terminal: no program has it open, and it is empty.
  var isFree: Bool { state.withLock { !$0.isUsed && !$0.isSpoilt } }
  /// Whether the next program would get bytes that were meant for the one before, since they are still to be written to the terminal.
  var isSpoilt: Bool { state.withLock { $0.isSpoilt && !$0.isUsed } }

  /// Called on the I/O thread, when the terminal is emptied if no program has it open any more.
  func change(_ isUsed: Bool) {
    let id = state.withLock { state in
      if isUsed || state.id == nil { state.isUsed = isUsed }
      return state.id
    }
    guard let id else { return }
    let isEmpty = hub.enter { $0.terminal(id, isUsed: isUsed) }
    // The endpoint must see the bytes that are still to be written before it sees that no program is left.
    if !isUsed { state.withLock { ($0.isUsed, $0.isSpoilt) = (false, $0.isSpoilt || !isEmpty) } }
  }

  /// Sets the number of the terminal as a client of the hub. A change that came before is applied now. This runs in the hub's
  /// isolation, so later changes are applied after it.
  func begin(_ id: HubClient.ID) async {
    await hub.begin(id) { [self] in
      state.withLock { state in
        state.id = id
        return state.isUsed
      }
    }
  }
}

extension SharingHub {
  /// Whether the terminals are hung up: until the device is back, or for good.
  fileprivate var isUnplugged: Bool {
    parts.clients.isClosed || rules.unplug == .hangUp && parts.device.hasHadDevice && !hasDevice
  }

  /// The clients of an endpoint that aren't leaving.
  fileprivate func clients(at endpoint: EndpointLimit) -> Set<HubClient.ID> {
    Set(parts.clients.all.values.lazy.filter { $0.endpoint == endpoint.id && !$0.isLeaving }.map(\.id))
  }

  fileprivate func begin(_ id: HubClient.ID, isUsed: @Sendable () -> Bool) {
    hold(id, true)
    setListening(id, isUsed())
  }

  /// A program has opened a terminal, or the last one has closed it. Returns whether nothing is still to be written to it.
  fileprivate func terminal(_ id: HubClient.ID, isUsed: Bool) -> Bool {
    setListening(id, isUsed)
    if !isUsed { hold(id, true) }
    return parts.clients[id].map { $0.transport.output.queuedCount == 0 } ?? true
  }
}
