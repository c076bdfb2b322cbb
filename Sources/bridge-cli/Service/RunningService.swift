// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryControl
import AccessoryCore
import AccessoryDiscovery
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import BridgeService
import CommandOutput
import Glibc
import Logging
import SystemPackage

/// Runs a service in this process, from taking its socket until it ends.
struct RunningService: Sendable {
  let configuration: ServiceConfiguration
  let log: Logger
  let sources: [any DeviceSource]
  /// The source that is added if the configuration asks for it; nil where it can't.
  var powerSupplies: PowerSupplySource?
  /// Whether events and the log are printed as JSON.
  let json: Bool
  /// Whether it is the second service, for devices that are named on the command line.
  var isForNamed = false
  /// The configuration's file, if the command line names one.
  let file: String?
  /// Whether the command line has the limit of attached accessories, which then goes before the configuration's file.
  var hasLimit = false
  /// Whether SIGHUP makes it read the profiles and the configuration again, and doesn't end the program.
  var reloadsOnHangUp = true

  /// The result of taking the sockets.
  enum Place: Sendable {
    case free(ControlSockets)
    /// Another service is running: its process ID, if known, and its socket's path.
    case taken(process: Int32?, path: String)
  }

  /// Takes the sockets that systemd passes, or creates them where the options say, or at the default paths;
  /// `isForNamed` selects those of a service whose devices are named on the command line.
  static func takePlace(_ options: ServiceOptions, forNamed isForNamed: Bool = false) async throws -> Place {
    let path = options.socket
    if path == nil, let passed = try ControlSockets.passed() { return .free(passed) }
    let place = if let path { path } else { try ServicePlace.own(forNamed: isForNamed) }
    let readings = options.readingsSocket(beside: place)
    // If the folder can't be created, creating the socket reports the error.
    if path == nil, isForNamed, let end = place.lastIndex(of: "/") { mkdir(String(place[..<end]), 0o700) }
    return try await SetupQueue(label: "control").run {
      do throws(AccessoryError) {
        let socket = try ControlSocket.make(at: place)
        return .free(ControlSockets(bridge: socket, readings: try readings.map(Self.make(readingsAt:))))
      } catch {
        guard error.kind == .busy else { throw error }
        return .taken(process: process(at: place), path: place)
      }
    }
  }

  /// Creates the socket for readings. Another service that answers there is an error: the service's own place was free.
  private static func make(readingsAt path: String) throws(AccessoryError) -> ControlSocket {
    do throws(AccessoryError) {
      return try ControlSocket.make(at: path)
    } catch {
      guard error.kind == .busy else { throw error }
      throw AccessoryError(
        .misconfigured, "another service answers on \(path): choose another path with --readings-socket, or none")
    }
  }

  /// The ID of the process that listens at the socket; nil if none listens or the ID isn't known.
  private static func process(at path: String) -> Int32? {
    guard let probe = try? UnixSocket.create() else { return nil }
    defer { Socket.close(probe) }
    guard (try? UnixSocket.connect(probe, to: path)) != nil else { return nil }
    return (try? UnixSocket.peer(of: probe)).map(\.process).flatMap { $0 > 0 ? $0 : nil }
  }

  /// Serves until the task is cancelled, or until the service was idle for the configured time. `begin` is called when
  /// the socket accepts clients.
  func run(on sockets: ControlSockets, hooks: ServiceHooks, begin: (BridgeService) async throws -> Void = { _ in })
    async throws
  {
    var hooks = hooks
    if json { hooks.onEvent = { EventDocument($0).map { ServiceLog.tell($0) } } }
    var configuration = configuration
    let socket = sockets.bridge
    (configuration.socket, configuration.readingsSocket) = (socket.path, sockets.readings?.path)
    configuration.shareFolder = (socket.path?.lastIndex(of: "/")).flatMap { end in
      socket.path.map { $0[..<end] + "/shared" }
    }
    configuration.stateFolder = StateFile.folder(of: "accessory-bridge").map { isForNamed ? $0 + "/network" : $0 }
    if configuration.stateFolder == nil {
      log.info("the history is kept in memory only: none of STATE_DIRECTORY, XDG_STATE_HOME and HOME is set")
    }
    configuration.boot = Self.boot
    let profiles = await profiles()
    var sources = sources
    do {
      let contents = try await ServiceFile.contents(file, profiles)
      (configuration.commandRules, configuration.alarmRules.entries) = (contents.rules, contents.alarms)
      if !hasLimit, let limit = contents.maximumAttached { configuration.maximumAttached = limit }
      if let connections = contents.bluetoothConnections { configuration.bluetoothConnections = connections }
      (configuration.forgetAfter, configuration.names) = (contents.forgetAfter, contents.names)
      if contents.attachesPowerSupplies, let powerSupplies { sources.append(powerSupplies) }
      for problem in contents.unfitAlarms { log.warning("\(problem)") }
    } catch {
      // An error in the default file doesn't stop the service, which then permits no command.
      guard file == nil else { throw AccessoryError(error) }
      for problem in error.problems { log.error("configuration not used: \(problem)") }
    }
    let service = BridgeService(
      configuration, profiles: profiles, drivers: KnownDrivers.library, log: log, hooks: hooks)
    let server = try ControlServer(
      socket, readings: sockets.readings, handler: service, limits: configuration.clientLimits,
      onClients: { service.noteClients($0) },
      onSocket: { [log] news, path in
        switch news {
        case .mended: log.warning("the socket \(path) or its lock was removed: the service made it again")
        case .lost(let error): log.error("the socket \(path) was removed, so clients can't connect: \(error.message)")
        }
      })
    log.info("answering on \(server.path ?? "the socket that was passed")")
    if sockets.readings != nil {
      log.info("answering read-only clients on \(server.places.readings ?? "the socket that was passed for it")")
    }
    note(configuration.commandRules)
    if json { ServiceLog.tell(ServingDocument(event: .serving, server.places, process: getpid())) }
    let reloading =
      reloadsOnHangUp ? Interruption.onHangUp { [hooks] in Task { await reload(service, hooks) } } : nil
    defer { reloading?.end() }
    let result: Result<Void, any Error>
    do {
      await service.watch(sources)
      try await begin(service)
      hooks.onReady()
      hooks.onRunning { [weak service] in await service?.proveLife() }
      for await _ in service.idle {}
      result = .success(())
    } catch {
      result = .failure(error)
    }
    hooks.onStopping()
    log.info("ending")
    await server.close()
    // While systemd considers this service running, it starts no other for a new device. `onStopping` has been sent
    // before on the I/O thread, so every device that came until systemd knew is seen by `hasWork`.
    let mayStayAway = Task.isCancelled || !ServiceNotifier().isWanted
    let isNeeded = mayStayAway ? false : await service.hasWork()
    await service.close()
    log.info("everything is closed")
    try result.get()
    if isNeeded {
      log.notice("an accessory came while the service was ending: systemd starts the service again")
      throw ExitCode(Self.startAgain)
    }
  }

  /// The name of this boot: what the unit passes where /proc shows only processes, and otherwise the kernel's.
  private static var boot: String {
    if let boot = UserDirectory.variable("ACCESSORY_BRIDGE_BOOT") { return boot }
    let bytes = (try? SmallFile.read("/proc/sys/kernel/random/boot_id", limit: 64)) ?? []
    return String(decoding: bytes.filter { $0 > 0x20 }, as: UTF8.self)
  }

  /// The exit status after which systemd starts the service again (`RestartForceExitStatus=`).
  private static let startAgain = EX_TEMPFAIL

  /// Logs how many commands the configuration permits to clients that may only read.
  private func note(_ rules: CommandRules) {
    guard let file = rules.file else { return }
    log.info("\(file) permits \(ServiceFile.count(rules)) to read-only clients")
  }

  private func profiles() async -> ProfileStore {
    let library = await KnownProfiles.library()
    for problem in library.problems { log.warning("profile not used: \(problem)") }
    return library.store
  }

  private func reload(_ service: BridgeService, _ hooks: ServiceHooks) async {
    log.notice("reading the profiles and the configuration again")
    hooks.onReloading()
    let profiles = await profiles()
    await service.use(profiles)
    do throws(ProfileProblems) {
      let contents = try await ServiceFile.contents(file, profiles)
      await service.use(contents.rules)
      await service.use(forgetAfter: contents.forgetAfter)
      await service.use(contents.names)
      await service.use(AlarmRules(contents.alarms, typed: configuration.alarmRules.typed))
      note(contents.rules)
      for problem in contents.unfitAlarms { log.warning("\(problem)") }
    } catch {
      for problem in error.problems {
        log.error("the changed configuration is not used, and the old one stays in effect: \(problem)")
      }
    }
    hooks.onReady()
  }
}

extension ServiceHooks {
  /// Hooks that notify the service manager (systemd) which started this process, if it asks for notifications.
  static func forManager(io: IOThread = .shared) -> ServiceHooks {
    let notifier = ServiceNotifier(io: io)
    guard notifier.isWanted else { return ServiceHooks() }
    // Posted to the I/O thread, so that notifications keep their order.
    @Sendable func tell(_ state: ServiceState) {
      io.post { notifier.assumeIsolated { $0.report(state) } }
    }
    return ServiceHooks(
      onReady: { tell(.ready) },
      onRunning: { proof in io.post { notifier.assumeIsolated { $0.startWatchdog(proof) } } },
      onStatus: { tell(.status($0)) }, onReloading: { tell(.reloading) }, onStopping: { tell(.stopping) })
  }
}
