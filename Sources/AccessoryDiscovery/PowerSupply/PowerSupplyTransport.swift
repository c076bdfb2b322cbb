// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A power supply of the kernel, whose files are read. It carries no bytes. A power supply that goes ends it.
public actor PowerSupplyTransport: DeviceChannel, IOActor {
  /// The power supply's name for people.
  public nonisolated let label: String

  package nonisolated let io: IOThread
  /// The queue on which sysfs is read, which may block.
  private nonisolated let reader: SetupQueue
  private nonisolated let folder: PowerSupplyFolder
  private nonisolated let hub = EventHub<Void>(limit: 1)
  private var monitor: UdevMonitor?

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Attributes.
  public static let kind = ChannelKind.attributes
  /// What it is, for errors.
  public static let device = "battery that the kernel knows"
  /// How it is used, for errors.
  public static let manner = "is only read"

  /// By its name.
  public static func source(of address: DeviceAddress) -> ChannelSource<PowerSupplyTransport>? {
    guard case .powerSupply(let name) = address else { return nil }
    return { request throws(AccessoryError) in try await open(name, label: request.label, io: request.io) }
  }

  /// Opens the power supply with this name. Throws `notFound`, and the errors of listening to udev.
  public static func open(
    _ name: String, label: String? = nil, io: IOThread = .shared
  ) async throws(AccessoryError) -> PowerSupplyTransport {
    let reader = SetupQueue(label: name)
    guard let folder = await reader.run({ PowerSupplyFolder(name) }) else {
      throw AccessoryError(
        .notFound, "there is no power supply \(SafeText.escape(name)): ls \(DeviceAddress.powerSupplies) shows all")
    }
    let transport = PowerSupplyTransport(folder, label: label ?? name, io: io, reader: reader)
    try await transport.listen()
    return transport
  }

  private init(_ folder: PowerSupplyFolder, label: String, io: IOThread, reader: SetupQueue) {
    (self.folder, self.label, self.io, self.reader) = (folder, label, io, reader)
  }

  private func listen() throws(AccessoryError) {
    monitor = try UdevMonitor.starting(io: io, subsystems: [UdevMonitor.powerSupplies]) { [weak self] messages in
      self?.enter(messages) { $0.take($1) }
    }
  }

  private func take(_ messages: [UdevMessage]) {
    for message in messages {
      switch message {
      case .hint(let hint) where hint.devpath != folder.devpath: continue
      case .hint(let hint) where hint.action == .removed: return end(.disconnected(label))
      case .hint, .overflow: hub.send(())
      }
    }
  }

  /// An event whenever the kernel says that the power supply has changed. Throws when it goes, and ends when it is closed.
  public nonisolated func changes() -> EventStream<Void> { hub.stream() }

  /// Waits for the end.
  public nonisolated func ended() async throws(AccessoryError) { for try await _ in changes() {} }

  /// The texts of these files of the power supply; those that it doesn't have, or can't say now, are left out. Throws `disconnected`.
  public nonisolated func read(_ attributes: [String]) async throws(AccessoryError) -> [String: String] {
    switch hub.end {
    case nil: break
    case .success?: throw .closed(label)
    case .failure(let error)?: throw error
    }
    let texts = await reader.run { [folder] () -> [String: String]? in
      let texts = Dictionary(
        uniqueKeysWithValues: Set(attributes).compactMap { name in folder.text(name).map { (name, $0) } })
      // Asked afterwards, so that nothing of a successor is returned.
      return folder.isPresent ? texts : nil
    }
    guard let texts else {
      deviceWasRemoved()
      throw .disconnected(label)
    }
    return texts
  }

  private func end(_ error: AccessoryError?) {
    monitor?.stop()
    monitor = nil
    hub.finish(error)
  }

  /// Stops listening.
  public func close() async { end(nil) }

  /// Starts `close()` without waiting for it.
  public nonisolated func beginClose() { io.post { self.enter { $0.end(nil) } } }

  /// Ends it with `disconnected`.
  public nonisolated func deviceWasRemoved() { io.post { self.enter { $0.end(.disconnected($0.label)) } } }
}
