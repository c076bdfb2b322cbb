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

/// A service in this process, from its socket to its end.
struct RunningService: Sendable {
  let configuration: ServiceConfiguration
  let log: Logger
  /// Where it looks for devices.
  let sources: [any DeviceSource]
  /// Whether what happens is told in documents.
  let json: Bool

  /// What starting came to.
  enum Place: Sendable {
    case free(ControlSocket)
    /// A service is there already: its process, where that is known, and its path.
    case taken(process: Int32?, path: String)
  }

  /// Takes the socket that systemd passes, or makes one at `path`, or else where a service is usually looked for.
  static func takePlace(_ path: String?) async throws -> Place {
    if path == nil, let passed = try ControlSocket.passed() { return .free(passed) }
    let place = if let path { path } else { try ServicePlace.own() }
    return try await SetupQueue(label: "control").run {
      do throws(AccessoryError) {
        return .free(try ControlSocket.make(at: place))
      } catch {
        guard error.kind == .busy else { throw error }
        return .taken(process: process(at: place), path: place)
      }
    }
  }

  /// Who listens there.
  private static func process(at path: String) -> Int32? {
    guard let probe = try? UnixSocket.create() else { return nil }
    defer { Socket.close(probe) }
    guard (try? UnixSocket.connect(probe, to: path)) != nil else { return nil }
    return (try? UnixSocket.peer(of: probe)).map(\.process).flatMap { $0 > 0 ? $0 : nil }
  }

  /// Serves until the task is cancelled, or there was nothing to do for long enough. `begin` is called when clients are
  /// answered.
  func run(on socket: ControlSocket, hooks: ServiceHooks, begin: (BridgeService) async throws -> Void = { _ in })
    async throws
  {
    var hooks = hooks
    if json { hooks.onEvent = { EventDocument($0).map { ServiceLog.tell($0) } } }
    var configuration = configuration
    configuration.socket = socket.path
    let service = BridgeService(
      configuration, profiles: await profiles(), drivers: KnownDrivers.library, log: log, hooks: hooks)
    let server = try ControlServer(
      socket, handler: service, limits: configuration.clientLimits, onClients: { service.noteClients($0) },
      onSocket: { [log, path = socket.path ?? ""] news in
        switch news {
        case .mended: log.warning("the socket \(path) or its lock was taken away: made again")
        case .lost(let error): log.error("the socket \(path) was taken away, no client finds it: \(error.message)")
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
    // As long as the manager takes the service for running it starts none for what is plugged in. It knows better by now,
    // for that was told before on the I/O thread: so whatever has come until then is seen here.
    let mayStayAway = Task.isCancelled || !ServiceNotifier().isWanted
    let isNeeded = mayStayAway ? false : await service.hasWork()
    await service.close()
    log.info("everything is closed")
    try result.get()
    if isNeeded {
      log.notice("an accessory has come at the last moment: to be started again")
      throw ExitCode(Self.startAgain)
    }
  }

  /// The exit status with which the manager starts the service again (`RestartForceExitStatus=`).
  private static let startAgain = EX_TEMPFAIL

  private func profiles() async -> ProfileStore {
    let library = await KnownProfiles.library()
    for problem in library.problems { log.warning("profile passed over: \(problem)") }
    return library.store
  }

  private func reload(_ service: BridgeService, _ hooks: ServiceHooks) async {
    log.notice("reading the profiles anew")
    hooks.onReloading()
    await service.use(await profiles())
    hooks.onReady()
  }
}

extension ServiceHooks {
  /// Tells the manager that started this process (systemd), if one wants to know.
  static func forManager(io: IOThread = .shared) -> ServiceHooks {
    let notifier = ServiceNotifier(io: io)
    guard notifier.isWanted else { return ServiceHooks() }
    // Posted, so that they are told in order.
    @Sendable func tell(_ state: ServiceState) {
      io.post { notifier.assumeIsolated { $0.tell(state) } }
    }
    return ServiceHooks(
      onReady: { tell(.ready) },
      onRunning: { proof in io.post { notifier.assumeIsolated { $0.startWatchdog(proof) } } },
      onStatus: { tell(.status($0)) }, onReloading: { tell(.reloading) }, onStopping: { tell(.stopping) })
  }
}
