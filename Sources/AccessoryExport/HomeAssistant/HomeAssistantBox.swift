// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryEntities
import AccessoryIO
import ESPHomeAPI

/// Home Assistant's view of this machine, by ESPHome's native API: the services' accessories with their readings and the commands that
/// the services permit. It is a view of the mirror.
package actor HomeAssistantBox {
  /// What happened, for the log.
  package enum News: Sendable, Hashable {
    /// A client of this name and address is connected.
    case connected(client: String, address: String)
    /// The connection ended in another way than by its client's wish.
    case ended(address: String, reason: String)
    /// A client's command for an accessory was carried out, or wasn't.
    case performed(command: String, accessory: String, AccessoryError?)
    /// The devices can't be kept on disk.
    case trouble(AccessoryError)
  }

  /// What clients are told of the machine.
  package struct Settings: Sendable {
    /// The name in the network, a host label, and the name for people.
    package var name, friendlyName: String
    package var version: String
    package var mac: [UInt8]
    /// The key of encrypted connections; nil for none, on this machine alone.
    package var key: [UInt8]?

    package init(_ identity: BoxIdentity, name: String? = nil, friendlyName: String, version: String, isPlain: Bool) {
      (self.name, self.friendlyName, self.version) = (name ?? identity.name, friendlyName, version)
      (mac, key) = (identity.mac, isPlain ? nil : identity.key)
    }

    /// The box without accessories.
    var box: NativeBox {
      NativeBox(name: name, friendlyName: friendlyName, mac: mac, version: version, isEncrypted: key != nil)
    }
  }

  private let settings: Settings
  private let feed: ReadingsFeed
  private let clock: any TimerClock
  private let note: @Sendable (News) -> Void
  private let server: NativeServer
  private let asked: AsyncStream<NativeCommand>
  private var devices: KnownDevices
  private var commands = CommandQueues<String>()
  private let file: StateFile?
  private let disk = SetupQueue(label: "home-assistant")
  /// How many changes of the devices have been written.
  private var written = 0
  private var forgetting = DeadlineTimer()
  private var isFailing = false

  /// The name of the file with the devices and their entities, and its largest size.
  private static let (fileName, fileLimit) = ("home-assistant.json", 16 << 20)
  /// For so long are changes gathered before clients are told.
  private static let gathering = Duration.milliseconds(100)
  /// How long a service has to answer a command.
  private static let replyTimeout = Duration.seconds(20)

  /// A box that reads from `feed`, whose mirror must follow commands and absent accessories, and that offers `ports`. Its devices are kept
  /// in `folder`; nil to keep them in memory. Throws `unsupported` where encryption isn't possible, and the errors of reading them.
  package init(
    _ settings: Settings, _ feed: ReadingsFeed, folder: String?, ports: (any NativePorts)? = nil,
    clock: any TimerClock = IOThread.shared, note: @escaping @Sendable (News) -> Void
  ) async throws(AccessoryError) {
    (self.settings, self.feed, self.clock, self.note) = (settings, feed, clock, note)
    let file = folder.map { StateFile(Self.fileName, in: $0) }
    self.file = file
    let isEncrypted = settings.key != nil
    let limit = Self.fileLimit
    let kept = try await disk.run { () throws(AccessoryError) -> [UInt8]? in
      if isEncrypted { try Sodium.load() }
      try file?.prepare()
      return try file?.read(limit: limit)
    }
    do {
      devices = try kept.map { try KnownDevices(kept: $0) } ?? KnownDevices()
    } catch {
      devices = KnownDevices()
      note(
        .trouble(
          AccessoryError(
            .badData, "\(file?.path ?? "") is damaged: what Home Assistant was told of silent accessories is lost")))
    }
    var box = settings.box
    devices.fill(&box)
    let (asked, ask) = AsyncStream<NativeCommand>.makeStream(bufferingPolicy: .bufferingOldest(64))
    self.asked = asked
    server = NativeServer(
      box, key: settings.key, ports: ports, clock: clock, perform: { ask.yield($0) },
      note: { news in
        switch news {
        case .connected(let client, let address): note(.connected(client: client, address: address))
        case .ended(let address, let reason): note(.ended(address: address, reason: reason))
        }
      })
  }

  /// Listens at `host`, and returns the address. Only this machine and machines in `networks` are served. `onRefused` is called on the I/O
  /// thread with the addresses of others. Throws as `ConnectionListener` does.
  package func listen(
    at host: String, port: UInt16, networks: [IPNetwork], onRefused: @escaping @Sendable (IPAddress) -> Void
  ) async throws(AccessoryError) -> ConnectionListener.Place {
    try await server.listen(at: host, port: port, networks: networks, onRefused: onRefused)
  }

  /// Tells clients of changes and carries out their commands, until the task is cancelled.
  package func run() async {
    await withTaskGroup { group in
      group.addTask {
        for await _ in self.feed.news {
          await self.update()
          await self.clock.sleep(for: Self.gathering)
        }
      }
      group.addTask { for await command in self.asked { await self.take(command) } }
    }
    commands.cancel()
    forgetting.cancel(on: clock)
  }

  /// Asks all clients to leave, and closes everything.
  package func close() async {
    await server.close()
    await disk.run {}
  }

  private func update() async {
    let snapshot = await feed.snapshot
    devices.take(snapshot, at: clock.now)
    await tell()
    forgetting.set(devices.forgetTime, on: clock) { [weak self] in Task { await self?.forget() } }
  }

  private func forget() async {
    forgetting.ended()
    await update()
  }

  private func tell() async {
    var box = settings.box
    devices.fill(&box)
    await server.update(box)
    await save()
  }

  private func save() async {
    guard let file, devices.changes != written else { return }
    written = devices.changes
    let kept = devices.kept
    let error = await disk.run { () -> AccessoryError? in
      do throws(AccessoryError) { try file.replace(kept) } catch { return error }
      return nil
    }
    if let error, !isFailing { note(.trouble(error)) }
    isFailing = error != nil
  }

  // MARK: - Commands

  /// Takes a command of a client. The service's configuration says which commands are permitted, and the service checks each one again.
  private func take(_ asked: NativeCommand) async {
    guard let command = devices.command(asked.entity) else { return }
    let name = command.accessory.device.id
    do throws(AccessoryError) {
      guard commands.admit(now: clock.now) else {
        throw AccessoryError(.busy, "too many commands come: try again in a second")
      }
      let first: CommandQueues<String>.Work = { [self] in await perform(asked, command) }
      try commands.add(first, for: name) { Task { await performAll(name, first) } }
    } catch {
      await refuse(asked, command, error)
    }
  }

  private func performAll(_ name: String, _ first: CommandQueues<String>.Work) async {
    await first()
    while let next = commands.next(of: name) { await next() }
  }

  private func perform(_ asked: NativeCommand, _ command: KnownDevices.Command) async {
    let accessory = command.accessory
    do throws(AccessoryError) {
      guard accessory.isConnected else { throw .disconnected(accessory.device.id) }
      guard await feed.mirror.permitsCommands(of: accessory.service) else {
        throw AccessoryError(.permissionDenied, "the service at \(accessory.service) permits no commands there")
      }
      let text = try Self.text(of: asked.value, for: command.command.name)
      var arguments: [String: String] = [:]
      if let argument = command.argument, let text { arguments[argument.name] = text }
      let client = try await BridgeClient.connect(to: accessory.service, replyTimeout: Self.replyTimeout)
      defer { client.close() }
      let label = accessory.device.id
      let device = accessory.record.map { client.device($0, label: label) } ?? client.device(label)
      _ = try await device.perform([Bridge.CommandCall(command.command.name, arguments)], isAnswered: true)
      if let text, let state = command.entity.state(typed: text) { devices.took(state, of: asked.entity) }
      note(.performed(command: command.command.name, accessory: label, nil))
      await tell()
    } catch {
      await refuse(asked, command, error)
    }
  }

  /// Commands have no answer: the state that there is tells that it was refused.
  private func refuse(_ asked: NativeCommand, _ command: KnownDevices.Command, _ error: AccessoryError) async {
    note(.performed(command: command.command.name, accessory: command.accessory.device.id, error))
    await server.repeatState(of: asked.entity)
  }

  /// What a user would type; nil for a button.
  private static func text(of value: NativeCommand.Value, for command: String) throws(AccessoryError) -> String? {
    switch value {
    case .press: return nil
    case .flag(let flag): return flag ? "yes" : "no"
    case .text(let text): return text
    case .number(let number):
      guard let whole = Int(exactly: Double(number)) else {
        throw AccessoryError(.misconfigured, "\(command) takes whole numbers, not \(number)")
      }
      return "\(whole)"
    }
  }
}
