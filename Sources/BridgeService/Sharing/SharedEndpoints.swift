// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessorySharing
import Glibc
import SystemPackage

/// The pseudo-terminals and Unix sockets at which profiles share accessories with other programs of this machine, and the serial ports
/// by Bluetooth at which they share them with phones. They exist before
/// the accessory is attached, and stay when it is gone. The accessory's line is lent to the endpoints' hub while a program has an
/// endpoint open, unless the profile lets programs only read. Used on the service's actor only.
final class SharedEndpoints {
  /// By the names of the profiles.
  private var places: [String: ProfileEndpoints] = [:]
  /// The change of the endpoints that is on its way.
  private var work: Task<Void, Never>?

  /// Whether a client reads an accessory's bytes at an endpoint; nil for any accessory.
  func areHeard(of key: Int? = nil) -> Bool {
    places.values.contains { (key == nil || $0.key == key) && $0.listeners > 0 }
  }

  // MARK: - Creating and closing endpoints

  /// Creates the endpoints that the profiles ask for, and closes those that no profile asks for any more. Returns at once; earlier
  /// changes are finished first.
  func renew(on service: isolated BridgeService) {
    let before = work
    work = Task {
      await before?.value
      await make(on: service)
    }
  }

  /// Returns when the changes that have begun are finished.
  func finish(on service: isolated BridgeService) async { await work?.value }

  private func make(on service: isolated BridgeService) async {
    let wanted =
      service.isClosing
      ? [] : service.profiles.profiles.filter { $0.sharing != nil && service.configuration.shares($0) }
    for (name, old) in places where wanted.first(where: { $0.name == name })?.sharing != old.sharing {
      places[name] = nil
      await close(old, on: service)
    }
    for profile in wanted where places[profile.name] == nil {
      guard let sharing = profile.sharing else { continue }
      await open(ProfileEndpoints(profile.name, sharing, io: service.io), on: service)
    }
    for attachment in service.attachments.ordered where attachment.contact.isTold { offer(attachment, on: service) }
  }

  private func open(_ made: ProfileEndpoints, on service: isolated BridgeService) async {
    guard let folder = service.configuration.shareFolder else {
      return service.log.error("\(made.profile) is not shared: the service has no folder of its own")
    }
    let taken = Set(places.values.flatMap(\.names))
    if let name = made.names.first(where: taken.contains) {
      return service.log.error("\(made.profile) is not shared: another profile shares its accessory as \(name)")
    }
    do throws(AccessoryError) {
      try await SetupQueue(label: "share").run { () throws(AccessoryError) in try Self.makeFolder(folder) }
      if let name = made.sharing.socket {
        let endpoint = try await UnixEndpoint.listen(
          at: "\(folder)/\(name)", mode: ProfileEndpoints.mode, for: made.hub)
        made.endpoints.append(endpoint)
      }
      if let name = made.sharing.terminal {
        let endpoint = try await TerminalEndpoint.open(
          at: "\(folder)/\(name)", mode: ProfileEndpoints.mode, for: made.hub
        ) { [log = service.log, profile = made.profile] error in
          log.error("\(profile) can't be shared at a terminal: \(error.message)")
        }
        made.endpoints.append(endpoint)
      }
      if let name = made.sharing.airName {
        let settings = GATTUARTServer.Settings(name, made.sharing.airForm)
        let endpoint = try BluetoothEndpoint(settings, for: made.hub) {
          [log = service.log, profile = made.profile] error in
          log.error("\(profile) can't be shared by Bluetooth: \(error.message)")
        }
        await endpoint.start()
        made.endpoints.append(endpoint)
      }
    } catch {
      service.log.error("\(made.profile) is not shared: \(error.message)")
      return await close(made, on: service)
    }
    for endpoint in made.endpoints { service.log.notice("\(made.profile) is shared at \(endpoint.label)") }
    places[made.profile] = made
    let (profile, news) = (made.profile, made.hub.news)
    made.following = Task { [weak service] in
      for await one in news { await service?.enter { $0.endpoints.heard(one, at: profile, on: $0) } }
    }
  }

  /// Creates the folder of the endpoints. Every user may list it; the permission bits of each endpoint say who may open it.
  private static func makeFolder(_ path: String) throws(AccessoryError) {
    guard mkdir(path, 0o755) == 0 || errno == EEXIST, chmod(path, 0o755) == 0 else {
      throw AccessoryError(errno: Errno(rawValue: errno), "making the folder \(path)")
    }
  }

  private func close(_ old: ProfileEndpoints, on service: isolated BridgeService) async {
    old.following?.cancel()
    release(old, on: service)
    for endpoint in old.endpoints { await endpoint.close() }
    await old.hub.close()
  }

  // MARK: - Connecting an accessory

  /// Connects an attached accessory to its profile's endpoints, if the profile shares it.
  func offer(_ attachment: Attachment, on service: isolated BridgeService) {
    guard let name = attachment.profile?.name, let places = places[name] else { return }
    guard !places.isConnected else {
      var isIts = places.key == attachment.key
      if !isIts, let key = places.key, let other = service.attachments[key] {
        isIts = attachment.sharesLine(with: other)
      }
      if !isIts { service.log.notice("\(attachment.name) is not shared: \(name) shares another accessory already") }
      return changed(name, on: service)
    }
    // A program that has an endpoint open waits for the accessory that it had.
    if places.listeners > 0, attachment.device.hasTwin, places.again?.isTwin(attachment.device) == true {
      return service.log.notice("\(attachment.name) is not shared: \(name) waits for another accessory of its identity")
    }
    release(places, on: service)
    places.again = SameAgain(attachment.device)
    places.isReadOnly = places.sharing.writers == .none
    if !places.isReadOnly,
      let refusal = service.opener(for: attachment).writeRules.refusalOfBytes(
        isAsked: places.sharing.asksToWrite,
        asking: "its share must have write: true, or writers: none if programs should only read")
    {
      places.isReadOnly = true
      service.log.warning("\(attachment.name) is shared for reading only: \(refusal.message)")
    }
    let feed = ShareFeed(
      label: attachment.target.address.description, timing: .instant, line: nil, hearsAlways: true)
    // This feed reserves the endpoints while `connect` reads the line, so that no other accessory is connected to them.
    (places.feed, places.key) = (feed, attachment.key)
    Task { await connect(places, to: attachment, on: service) }
  }

  private func connect(
    _ places: ProfileEndpoints, to attachment: Attachment, on service: isolated BridgeService
  ) async {
    let label = attachment.target.address.description
    let known = try? await attachment.open?.opened.session?.line?.status()
    let line = known.map { SharedLineControl(label: label, known: $0) }
    let hub = places.hub
    places.line = line
    service.sharing(of: attachment).onLoan = { lent in
      line?.use(lent)
      if lent != nil { await hub.lineWasReopened() }
    }
    // The bytes of a program that has written and left may come only after the line was given back.
    let onWaiting: @Sendable () -> Void = { [weak service, profile = places.profile] in
      service?.post { $0.endpoints.changed(profile, on: $0) }
    }
    places.feed = await service.connect(
      hub, to: attachment, line: line, isReadOnly: places.isReadOnly, onWaiting: onWaiting)
    changed(places.profile, on: service)
  }

  /// Disconnects the accessory from these endpoints.
  private func release(_ places: ProfileEndpoints, on service: isolated BridgeService) {
    places.feed?.end(nil)
    if let key = places.key, let writer = places.writer { service.removeWriter(key, writer) }
    if let key = places.key { service.attachments[key]?.sharing?.onLoan = nil }
    (places.feed, places.key, places.line, places.writer) = (nil, nil, nil, nil)
  }

  // MARK: - Clients of the endpoints

  private func heard(_ news: SharingNews, at profile: String, on service: isolated BridgeService) {
    switch news {
    case .left(let name, let reason?): service.log.notice("\(profile): \(name) is gone: \(reason)")
    case .refused(let name, let reason): service.log.notice("\(profile): \(name) was refused: \(reason)")
    case .unheard(let name): service.log.notice("\(profile): \(name) may not write: what it sends is discarded")
    case .joined, .left, .deviceCame, .deviceWent, .skipping, .notAFrame, .frameRefused, .noContact, .reset,
      .lineRefused:
      break
    }
    changed(profile, on: service)
  }

  /// Checks the endpoints after a client or the accessory has come or gone.
  private func changed(_ profile: String, on service: isolated BridgeService) {
    Task { await look(profile, on: service) }
  }

  /// Has the line lent to the endpoints' hub when a program has an endpoint open or bytes wait, and returned otherwise.
  private func look(_ profile: String, on service: isolated BridgeService) async {
    guard let places = places[profile] else { return }
    places.listeners = await places.hub.listenerCount
    service.checkIdle()
    guard places.isConnected, let key = places.key, let attachment = service.attachments[key] else {
      if places.feed != nil { release(places, on: service) }
      return
    }
    guard !places.isReadOnly else {
      // An accessory that was closed because it was idle sends nothing, so it is opened for the readers.
      if places.listeners > 0 { service.perform(attachment.machine.wake(now: service.clock.now), on: attachment) }
      return
    }
    let hasOutput = await service.sharing(of: attachment).line.hasOutput
    guard places.isConnected, places.key == key, !places.isAsking else { return }
    let isWanted = places.listeners > 0 || hasOutput
    if isWanted, places.writer == nil {
      places.isAsking = true
      await ask(places, attachment, on: service)
      places.isAsking = false
      // The programs may have left while the line was being lent.
      if places.writer != nil { changed(profile, on: service) }
    } else if !isWanted, let writer = places.writer {
      places.writer = nil
      service.removeWriter(key, writer)
    }
  }

  private func ask(
    _ places: ProfileEndpoints, _ attachment: Attachment, on service: isolated BridgeService
  ) async {
    let name = "who has \(places.endpoints.map(\.label).joined(separator: " or ")) open"
    do throws(CallError) {
      let (owner, writer) = try await service.addWriter(
        attachment, name, isAsked: places.sharing.asksToWrite, text: attachment.device.id)
      guard places.isConnected, owner.key == places.key else { return service.removeWriter(owner.key, writer) }
      places.writer = writer
    } catch {
      service.log.notice("\(attachment.name) is not lent to \(name): \(error.accessoryError.message)")
      _ = service.clock.schedule(at: service.clock.now + Self.pause) { [weak service, profile = places.profile] in
        service?.post { $0.endpoints.changed(profile, on: $0) }
      }
    }
  }

  /// The pause after which the line is requested again when it could not be lent.
  private static let pause = Duration.seconds(1)
}
