// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus
import SystemPackage

// Connecting and disconnecting.

extension BlueZCentral {
  /// How long one attempt may take: bluetoothd gives up after 42 seconds.
  private static let attemptLimit = Duration.seconds(60)
  /// The pauses between attempts.
  private static let pauses = (first: Duration.milliseconds(300), longest: Duration.seconds(10))
  /// An unlimited wait is made of steps of this length.
  private static let step = Duration.seconds(3_600)

  func connect(_ link: RadioLink) {
    tellLoss(of: link.peer)
    guard state == .on, let path = path(of: link.peer) else { return tell(.ended(link, .connectionFailed)) }
    if let before = links.removeValue(forKey: link.peer) { letGo(before, telling: false) }
    let made = BlueZLink(link, path: path)
    links[link.peer] = made
    made.connecting = Task { await self.connect(made) }
  }

  private func connect(_ link: BlueZLink) async {
    await leaving[link.link.peer]?.value
    var pause = Self.pauses.first
    while let bluez, links[link.link.peer] === link, !Task.isCancelled {
      guard let device = objects.devices[link.path] else {
        await wait(for: link, bluez)
        continue
      }
      do throws(BusFailure) {
        if !device.isConnected {
          link.isOurs = true
          _ = try await bluez.call(link.path, BlueZ.deviceInterface, "Connect", within: Self.attemptLimit)
        }
        let path = link.path
        let late = AccessoryError(.timedOut, "late")
        let isThere: Void? = try? await bluez.first(within: .seconds(5), otherwise: late) { objects in
          objects.devices[path]?.isConnected == true ? .success(()) : nil
        }
        guard isThere != nil else { continue }
        return made(link)
      } catch {
        guard !Task.isCancelled else { return }
        link.isOurs = false
        switch error.name {
        case "org.bluez.Error.AuthenticationFailed", "org.bluez.Error.AuthenticationRejected",
          "org.bluez.Error.AuthenticationCanceled", "org.bluez.Error.NotAuthorized":
          return end(link, .pairingNeeded)
        case "org.bluez.Error.NotSupported", "org.freedesktop.DBus.Error.AccessDenied":
          return end(link, .connectionFailed)
        default: break
        }
        // Any other state is temporary, or reported by a signal: the client waits until it cancels.
        await io.sleep(for: pause)
        pause = min(pause * 2, Self.pauses.longest)
      }
    }
  }

  /// Searches until BlueZ knows the device again.
  private func wait(for link: BlueZLink, _ bluez: BlueZ) async {
    link.isSearchedFor = true
    arrange()
    let path = link.path
    let late = AccessoryError(.timedOut, "late")
    _ = try? await bluez.first(within: Self.step, otherwise: late) { objects -> Result<Void, AccessoryError>? in
      objects.devices[path] != nil ? .success(()) : nil
    }
    link.isSearchedFor = false
    arrange()
  }

  private func made(_ link: BlueZLink) {
    guard links[link.link.peer] === link, !Task.isCancelled else { return }
    (link.isMade, link.connecting) = (true, nil)
    link.percent = objects.devices[link.path]?.batteryPercent
    tell(.connected(link.link, packetSize: 23))
  }

  func disconnect(_ asked: RadioLink) {
    guard let link = links[asked.peer], link.link == asked else { return }
    links[asked.peer] = nil
    let connecting = link.connecting
    letGo(link, telling: false)
    let before = leaving[asked.peer]
    leaving[asked.peer] = Task {
      await before?.value
      await connecting?.value
      if let bluez, link.isOurs {
        // Also ends an attempt, which bluetoothd would otherwise continue for 40 seconds.
        _ = try? await bluez.call(link.path, BlueZ.deviceInterface, "Disconnect", within: .seconds(5))
      }
      self.tell(.ended(asked, nil))
    }
  }

  /// Ends a link: passes on the values that have arrived, and then reports the end.
  func end(_ link: BlueZLink, _ failure: RadioFailure) {
    if forget(link) { tell(.ended(link.link, failure)) }
  }

  /// How long to wait before reporting a lost connection.
  private static let doubt = Duration.milliseconds(300)

  /// Reports a lost connection a little later. When Bluetooth is switched off, bluetoothd first reports the end of every connection;
  /// then only the switching off is reported.
  /// connections, and then only that is told.
  func lose(_ link: BlueZLink) {
    guard forget(link) else { return }
    let peer = link.link.peer
    let timer = io.schedule(at: io.now + Self.doubt) { [weak self] in self?.enter { $0.tellLoss(of: peer) } }
    losses[peer] = (link.link, timer)
  }

  /// Reports a lost connection after the wait.
  private func tellLoss(of peer: RadioPeer) {
    guard let loss = losses.removeValue(forKey: peer) else { return }
    io.cancel(loss.timer)
    tell(.ended(loss.link, .disconnected))
  }

  /// Passes on the values that have arrived. Returns false if the connection is already over.
  private func forget(_ link: BlueZLink) -> Bool {
    guard links[link.link.peer] === link else { return false }
    links[link.link.peer] = nil
    letGo(link, telling: true)
    return true
  }

  /// Releases everything that a connection holds.
  func letGo(_ link: BlueZLink, telling: Bool) {
    link.connecting?.cancel()
    if let timer = link.looksAgain { io.cancel(timer) }
    for socket in link.sockets.values.sorted(by: { $0.handle < $1.handle }) {
      if telling { drain(socket) }
      close(socket)
    }
    (link.sockets, link.signals, link.operations) = ([:], [:], [])
  }

  // MARK: - Notifications

  func hold(_ isHeld: Bool) {
    self.isHeld = isHeld
    for link in links.values {
      link.unheld = 0
      for socket in link.sockets.values { watch(socket) }
    }
  }

  /// Watches a socket for what is wanted now. Returns false if that isn't possible.
  @discardableResult
  func watch(_ socket: NotificationSocket) -> Bool {
    let interest: Interest = isHeld ? [] : .read
    do throws(Errno) {
      if let token = socket.token.withLock({ $0 }) {
        try io.change(socket.descriptor, token, to: interest)
      } else {
        let token = try io.watch(socket.descriptor, for: interest, handler: socket)
        socket.token.withLock { $0 = token }
      }
      return true
    } catch {
      return false
    }
  }

  func close(_ socket: NotificationSocket) {
    if let token = socket.token.withLock({ $0 }) { io.unwatch(socket.descriptor, token) }
    Socket.close(socket.descriptor)
  }

  /// The most packets that are read for one event.
  private static let packetsPerEvent = 64
  /// The most packets to read after a hang-up, and the most empty ones among them: the end reads like an empty packet.
  private static let behindEnd = (packets: 65_536, empty: 64)

  func read(_ socket: NotificationSocket, hasHungUp: Bool) {
    guard let link = links[socket.link.peer], link.sockets[socket.handle] === socket else { return }
    guard !hasHungUp else {
      // The bus reports the end of the connection.
      drain(socket)
      close(socket)
      link.sockets[socket.handle] = nil
      return
    }
    for _ in 0..<Self.packetsPerEvent where !isHeld {
      guard let bytes = packet(socket) else { return }
      tell(.value(socket.link, handle: socket.handle, bytes))
      if bytes.isEmpty { return }
    }
  }

  /// Reads all packets that have arrived, up to the end.
  private func drain(_ socket: NotificationSocket) {
    var empty = 0
    for _ in 0..<Self.behindEnd.packets {
      guard let bytes = packet(socket) else { return }
      if bytes.isEmpty {
        empty += 1
        if empty == Self.behindEnd.empty { return }
      } else {
        tell(.value(socket.link, handle: socket.handle, bytes))
      }
    }
  }

  private func packet(_ socket: NotificationSocket) -> [UInt8]? {
    var bytes: [UInt8] = []
    do throws(Errno) {
      _ = try Socket.receive(from: socket.descriptor, by: self) { bytes = Array($0.prefix(GATTPacket.longestValue)) }
      return bytes
    } catch {
      return nil
    }
  }

  /// The most unread values from signals, which have no flow control.
  private static let unheldLimit = 16_384

  /// A characteristic's value has come by a signal of the bus.
  func signalled(_ path: String, _ bytes: [UInt8]) {
    for link in links.values {
      guard let handle = link.signals[path] else { continue }
      if link.reading?.path == path {
        // bluetoothd also sends a signal for each value that is read.
        link.reading?.values.append(bytes)
        continue
      }
      if isHeld { link.unheld += 1 }
      guard link.unheld <= Self.unheldLimit else {
        let path = link.path
        if link.isOurs, let bluez { Task { await bluez.disconnect(path) } }
        return end(link, .failed)
      }
      tell(.value(link.link, handle: handle, Array(bytes.prefix(GATTPacket.longestValue))))
    }
  }
}
