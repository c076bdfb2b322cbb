// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryProtocols

/// Clients that come and leave.
extension SharingHub {
  /// The number of clients.
  public var sharerCount: Int { sharers.count }

  /// Adds a client with its transport, which the hub takes over. `name` appears in reports. Returns the client's number.
  @discardableResult
  func join(
    _ transport: any Transport, name: String, kind: SharerKind, isListening: Bool = true,
    onLeave: (@Sendable () -> Void)? = nil
  ) -> Sharer.ID {
    let id = nextID
    nextID += 1
    guard !isClosed else {
      transport.beginClose()
      return id
    }
    let sharer = Sharer(id, name: name, transport, kind: kind)
    sharer.isListening = isListening
    sharer.isTold = isListening
    sharer.onLeave = onLeave
    sharers[id] = sharer
    addToFrames(id)
    if sharer.isTold { tell(.joined(name)) }
    follow(sharer)
    greet(sharer)
    transport.output.onSpace { [weak self] in self?.onThread { $0.hasSpace(id) } }
    transport.output.onClosed { [weak self] _ in self?.onThread { $0.clientClosed(id) } }
    transport.input.onReadable { [weak self] in self?.onThread { $0.read(id) } }
    // The hub may have stopped reading from the device for its only client. Now there are two.
    resumeDevice()
    return id
  }

  /// A client takes nothing more: its backlog is dropped, so that the end of its input is noticed.
  private func clientClosed(_ id: Sharer.ID) {
    guard let sharer = sharers[id] else { return }
    sharer.backlog.removeAll()
    work(sharer)
    resumeDevice()
  }

  /// Adds a client of an endpoint. With `newestWins` it replaces the connected one; otherwise it is refused when the
  /// limit is reached. Returns the client's number, or nil if it was refused.
  @discardableResult
  func welcome(_ transport: any Transport, name: String, kind: SharerKind, at endpoint: EndpointLimit) -> Sharer.ID? {
    let others = sharers.values.filter { $0.endpoint == endpoint.id && !$0.isLeaving }
    if endpoint.newestWins {
      for other in others { dismiss(other, "\(name) took its place") }
    } else if others.count >= endpoint.maximum {
      transport.beginClose()
      tell(.refused(name, reason: "\(others.count) clients are there, and no more are allowed"))
      return nil
    }
    let id = join(transport, name: name, kind: kind)
    sharers[id]?.endpoint = endpoint.id
    return id
  }

  /// Starts or stops sending the device's bytes to a client. Stopping drops the client's backlog, and the client is no
  /// longer the only writer.
  func setListening(_ id: Sharer.ID, _ isListening: Bool) {
    guard let sharer = sharers[id], sharer.isListening != isListening else { return }
    sharer.isListening = isListening
    sharer.isTold = isListening
    tell(isListening ? .joined(sharer.name) : .left(sharer.name, reason: nil))
    guard !isListening else {
      watchSettings(of: id)
      return resumeDevice()
    }
    lineLeft(by: id)
    sharer.backlog.removeAll()
    forgetFrames(of: id, isBack: true)
    sharer.isUnheard = false
    if writer == id { writer = nil }
    // Requests of the program before no longer wait for their turns.
    if frames != nil, sharer.isWaitingForDevice, !waiting.contains(id) {
      sharer.isWaitingForDevice = false
      work(sharer)
    }
    resumeDevice()
  }

  /// Disconnects a client. Its backlog is sent first, for up to `leavePatience`.
  func dismiss(_ id: Sharer.ID, _ reason: String) { if let sharer = sharers[id] { dismiss(sharer, reason) } }

  func dismiss(_ sharer: Sharer, _ reason: String?) {
    guard !sharer.isLeaving, sharers[sharer.id] != nil else { return }
    if sharer.isTold { tell(.left(sharer.name, reason: reason)) }
    sharer.isLeaving = true
    release(sharer)
    guard !sharer.backlog.isEmpty else { return remove(sharer) }
    _ = clock.schedule(at: clock.now + Self.leavePatience) { [weak self, id = sharer.id] in
      self?.onThread { hub in if let sharer = hub.sharers[id] { hub.remove(sharer) } }
    }
  }

  /// Drops the client's requests, its right to be the only writer, and its use of the line.
  private func release(_ sharer: Sharer) {
    sharer.deeds.removeAll()
    waiting.removeAll { $0 == sharer.id }
    if writer == sharer.id { writer = nil }
    forgetFrames(of: sharer.id, isBack: false)
    lineLeft(by: sharer.id)
  }

  func remove(_ sharer: Sharer) {
    guard sharers.removeValue(forKey: sharer.id) != nil else { return }
    if !sharer.isLeaving, sharer.isTold { tell(.left(sharer.name, reason: nil)) }
    release(sharer)
    sharer.transport.beginClose()
    sharer.onLeave?()
    resumeDevice()
  }
}
