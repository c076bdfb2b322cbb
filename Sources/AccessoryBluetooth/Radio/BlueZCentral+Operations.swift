// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus
import SystemPackage

// Requests to a connected device, one after another, as in the Attribute Protocol.

extension BlueZCentral {
  /// How many writes without a response wait for bluetoothd at a time.
  private static let commandsAtATime = 16
  /// After this many writes a value is read; its reply shows that the device has received all of them. bluetoothd
  /// accepts any number of writes, and drops what the device sends in the meantime.
  private static let window = 64
  /// How long an operation may take. GATT's own limit is 30 seconds.
  private static let limit = Duration.seconds(31)
  private static let descriptorInterface = "org.bluez.GattDescriptor1"

  func pump(_ link: BlueZLink) {
    while !link.isBusy, links[link.link.peer] === link, let next = link.operations.first, let bluez {
      if case .writeCommand(_, let handle, let bytes) = next {
        guard link.commands.waiting < Self.commandsAtATime else { return }
        if link.commands.unconfirmed >= Self.window, let path = checkpoint(link) {
          link.isBusy = true
          Task {
            // A refusal by the device is an answer, too.
            _ = try? await bluez.call(path, Self.descriptorInterface, "ReadValue", [.options([])], within: Self.limit)
            link.commands.unconfirmed = 0
            done(link)
          }
          return
        }
        link.operations.removeFirst()
        link.commands.waiting += 1
        link.commands.unconfirmed += 1
        Task { await send(handle, bytes, link, bluez) }
      } else {
        link.operations.removeFirst()
        link.isBusy = true
        Task {
          let answer = await perform(next, link, bluez)
          if links[link.link.peer] === link, let answer { self.tell(answer) }
          done(link)
        }
      }
    }
  }

  private func done(_ link: BlueZLink) {
    link.isBusy = false
    pump(link)
  }

  /// A Client Characteristic Configuration, a descriptor that every device allows to be read.
  private func checkpoint(_ link: BlueZLink) -> String? {
    for service in link.table ?? [] {
      for characteristic in service.characteristics {
        let found = characteristic.descriptors.first { $0.uuid == .clientConfiguration }
        if let path = found.flatMap({ link.places[$0.handle] }) { return path }
      }
    }
    return nil
  }

  private func send(_ handle: Int, _ bytes: [UInt8], _ link: BlueZLink, _ bluez: BlueZ) async {
    if let path = link.places[handle] {
      let arguments: [BusArgument] = [.bytes(bytes), .options([.init("type", .text("command"))])]
      // bluetoothd doesn't report whether the device has accepted it.
      _ = try? await bluez.call(path, GATTTransport.characteristic, "WriteValue", arguments, within: Self.limit)
    }
    link.commands.waiting -= 1
    if links[link.link.peer] === link { tell(.sent(link.link)) }
    pump(link)
  }

  private func perform(_ command: RadioCommand, _ link: BlueZLink, _ bluez: BlueZ) async -> RadioEvent? {
    switch command {
    case .discover: return await discover(link, bluez)
    case .read(_, let handle): return .read(link.link, handle: handle, await read(handle, link, bluez))
    case .write(_, let handle, let bytes):
      return .written(link.link, handle: handle, await write(handle, bytes, link, bluez))
    case .notify(_, let handle, let isOn):
      do throws(RadioFailure) {
        if isOn { try await startNotifying(handle, link, bluez) } else { await stopNotifying(handle, link, bluez) }
        // Both calls report the result themselves, before the first value.
        return nil
      } catch {
        return .notifying(link.link, handle: handle, .failure(error))
      }
    case .measure:
      // bluetoothd measures only advertisements. The kernel measures connections, but reports that only to programs with
      // CAP_NET_ADMIN (Get Connection Information, mgmt-api.txt).
      return .strength(link.link, strength(of: link.link.peer).map { .success($0) } ?? .failure(.unsupported))
    case .search, .connect, .disconnect, .writeCommand, .hold: return nil
    }
  }

  // MARK: - Reading and writing

  private func read(_ handle: Int, _ link: BlueZLink, _ bluez: BlueZ) async -> Result<[UInt8], RadioFailure> {
    if handle == RadioService.battery.characteristics[0].handle, link.places[handle] == nil {
      return await percent(link, bluez)
    }
    guard let path = link.places[handle] else { return .failure(.noAttribute) }
    if link.signals[path] != nil { link.reading = (path, []) }
    let result: Result<[UInt8], RadioFailure>
    do throws(BusFailure) {
      let values = try await bluez.call(path, Self.interface(of: path), "ReadValue", [.options([])], within: Self.limit)
      guard let bytes = values.first?.bytes else { throw .malformed }
      result = .success(Array(bytes.prefix(GATTPacket.longestValue)))
    } catch {
      result = .failure(RadioFailure(error, isWrite: false))
    }
    var signalled = link.reading?.values ?? []
    link.reading = nil
    if case .success(let bytes) = result, let own = signalled.firstIndex(of: bytes) { signalled.remove(at: own) }
    for bytes in signalled { self.signalled(path, bytes) }
    return result
  }

  private func write(_ handle: Int, _ bytes: [UInt8], _ link: BlueZLink, _ bluez: BlueZ) async -> RadioFailure? {
    guard let path = link.places[handle] else { return .noAttribute }
    let interface = Self.interface(of: path)
    let options: [BusArgument.Option] =
      interface == Self.descriptorInterface ? [] : [.init("type", .text("request"))]
    do throws(BusFailure) {
      _ = try await bluez.call(path, interface, "WriteValue", [.bytes(bytes), .options(options)], within: Self.limit)
      return nil
    } catch {
      return RadioFailure(error, isWrite: true)
    }
  }

  private static func interface(of path: String) -> String {
    path.split(separator: "/").last?.hasPrefix("desc") == true ? descriptorInterface : GATTTransport.characteristic
  }

  // MARK: - Notifications

  private func startNotifying(_ handle: Int, _ link: BlueZLink, _ bluez: BlueZ) async throws(RadioFailure) {
    let isOn = RadioEvent.notifying(link.link, handle: handle, .success(true))
    if handle == RadioService.battery.characteristics[0].handle, link.places[handle] == nil {
      link.tellsBattery = true
      return tell(isOn)
    }
    guard let path = link.places[handle] else { throw .noAttribute }
    guard link.sockets[handle] == nil, link.signals[path] == nil else { return tell(isOn) }
    do throws(BusFailure) {
      let values = try await bluez.call(
        path, GATTTransport.characteristic, "AcquireNotify", [.options([])], within: Self.limit)
      guard let acquired = GATTTransport.Acquired(values), let descriptor = acquired.descriptor.take() else {
        throw .malformed
      }
      // The connection may have ended in the meantime.
      guard links[link.link.peer] === link else { return Socket.close(descriptor) }
      let socket = NotificationSocket(descriptor, link.link, handle: handle, self)
      link.sockets[handle] = socket
      tell(isOn)
      guard !watch(socket) else { return }
      link.sockets[handle] = nil
      close(socket)
    } catch {
      guard ["org.bluez.Error.NotSupported", "org.freedesktop.DBus.Error.UnknownMethod"].contains(error.name) else {
        throw RadioFailure(error, isWrite: true)
      }
      try await startSignals(path, handle, link, bluez)
    }
  }

  /// Starts notifications by signals of the bus, which characteristics with indications need.
  private func startSignals(
    _ path: String, _ handle: Int, _ link: BlueZLink, _ bluez: BlueZ
  ) async throws(RadioFailure) {
    do throws(BusFailure) {
      _ = try await bluez.call(path, GATTTransport.characteristic, "StartNotify", within: Self.limit)
      guard links[link.link.peer] === link else { return }
      link.signals[path] = handle
      tell(.notifying(link.link, handle: handle, .success(true)))
    } catch {
      throw RadioFailure(error, isWrite: true)
    }
  }

  private func stopNotifying(_ handle: Int, _ link: BlueZLink, _ bluez: BlueZ) async {
    if handle == RadioService.battery.characteristics[0].handle { link.tellsBattery = false }
    if let socket = link.sockets.removeValue(forKey: handle) { close(socket) }
    if let path = link.places[handle], link.signals.removeValue(forKey: path) != nil {
      _ = try? await bluez.call(path, GATTTransport.characteristic, "StopNotify", within: Self.limit)
    }
    if links[link.link.peer] === link { tell(.notifying(link.link, handle: handle, .success(false))) }
  }
}
