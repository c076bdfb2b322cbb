// SPDX-License-Identifier: Apache-2.0

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
  /// The sources of devices.
  let sources: [any DeviceSource]
  /// Whether events and the log are printed as JSON.
  let json: Bool

  /// The result of taking the socket.
  enum Place: Sendable {
    case free(ControlSocket)
    /// Another service is running: its process ID, where that is known, and its socket's path.
    case taken(process: Int32?, path: String)
  }

  /// Takes the socket that systemd passes, or creates one at `path`. If `path` is nil, the socket is at the default path;
  /// `isForNamed` selects the default path of a service whose devices are named on the command line.
  static func takePlace(_ path: String?, forNamed isForNamed: Bool = false) async throws -> Place {
    if path == nil, let passed = try ControlSocket.passed() { return .free(passed) }
    let place = if let path { path } else { try ServicePlace.own(forNamed: isForNamed) }
    // If the folder can't be created, creating the socket reports the error.
    if path == nil, isForNamed, let end = place.lastIndex(of: "/") { mkdir(String(place[..<end]), 0o700) }
    return try await SetupQueue(label: "control").run {
      do throws(AccessoryError) {
        return .free(try ControlSocket.make(at: place))
      } catch {
        guard error.kind == .busy else { throw error }
        return .taken(process: process(at: place), path: place)
      }
    }
  }

  /// The ID of the process that listens at the socket; nil when nobody listens or the ID isn't known.
  private static func process(at path: String) -> Int32? {
    guard let probe = try? UnixSocket.create() else { return nil }
    defer { Socket.close(probe) }
    guard (try? UnixSocket.connect(probe, to: path)) != nil else { return nil }
    return (try? UnixSocket.peer(of: probe)).map(\.process).flatMap { $0 > 0 ? $0 : nil }
  }

  /// Serves until the task is cancelled, or until the service was idle for the configured time. `begin` is called when
  /// the socket accepts clients.
  func run(on socket: ControlSocket, hooks: ServiceHooks, begin: (BridgeService) async throws -> Void = { _ in })
    async throws
  {
    var hooks = hooks
    if json { hooks.onEvent = { EventDocument($0).map { ServiceLog.tell($0) } } }
    var configuration = configuration
    configuration.socket = socket.path
    configuration.shareFolder = (socket.path?.lastIndex(of: "/")).flatMap { end in
      socket.path.map { $0[..<end] + "/shared" }
    }
    let service = BridgeService(
      configuration, profiles: await profiles(), drivers: KnownDrivers.library, log: log, hooks: hooks)
    let server = try ControlServer(
      socket, handler: service, limits: configuration.clientLimits, onClients: { service.noteClients($0) },
      onSocket: { [log, path = socket.path ?? ""] news in
        switch news {
        case .mended: log.warning("the socket \(path) or its lock was removed: the service made it again")
        case .lost(let error): log.error("the socket \(path) was removed, so clients can't connect: \(error.message)")
        }
      })
    log.info("answering on \(server.path ?? "the socket that was passed")")
    if json {
      ServiceLog.tell(ServingDocument(event: .serving, socket: OrNull(server.path), process: OrNull(getpid())))
    }
    let reloading = Interruption.onHangUp { [hooks] in Task { await reload(service, hooks) } }
    defer { reloading.end() }
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
      log.notice("an accessory came while the service was ending: systemd is to start it again")
      throw ExitCode(Self.startAgain)
    }
  }

  /// The exit status after which systemd starts the service again (`RestartForceExitStatus=`).
  private static let startAgain = EX_TEMPFAIL

  private func profiles() async -> ProfileStore {
    let library = await KnownProfiles.library()
    for problem in library.problems { log.warning("profile not used: \(problem)") }
    return library.store
  }

  private func reload(_ service: BridgeService, _ hooks: ServiceHooks) async {
    log.notice("reading the profiles again")
    hooks.onReloading()
    await service.use(await profiles())
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
