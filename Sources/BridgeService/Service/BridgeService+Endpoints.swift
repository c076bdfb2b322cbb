// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessorySharing
import Glibc
import SystemPackage

// The pseudo-terminals and Unix sockets at which profiles share accessories with other programs of this machine. They exist before the
// accessory is attached, and stay when it is gone. The accessory's line is lent to the endpoints' hub while a program has an endpoint
// open, unless the profile lets programs only read.

extension BridgeService {
  // MARK: - Creating and closing endpoints

  /// Creates the endpoints that the profiles ask for, and closes those that no profile asks for any more. Returns at once; earlier
  /// changes are finished first.
  func renewEndpoints() {
    let before = endpointWork
    endpointWork = Task {
      await before?.value
      await makeEndpoints()
    }
  }

  private func makeEndpoints() async {
    let wanted = isClosing ? [] : profiles.profiles.filter { $0.sharing != nil && configuration.shares($0) }
    for (name, old) in endpoints where wanted.first(where: { $0.name == name })?.sharing != old.sharing {
      endpoints[name] = nil
      await close(old)
    }
    for profile in wanted where endpoints[profile.name] == nil {
      guard let sharing = profile.sharing else { continue }
      await open(ProfileEndpoints(profile.name, sharing, io: io))
    }
    for attachment in ordered where attachment.isTold { offer(attachment) }
  }

  private func open(_ made: ProfileEndpoints) async {
    guard let folder = configuration.shareFolder else {
      return log.error("\(made.profile) is not shared: the service has no folder of its own")
    }
    let taken = Set(endpoints.values.flatMap(\.names))
    if let name = made.names.first(where: taken.contains) {
      return log.error("\(made.profile) is not shared: another profile shares its accessory as \(name)")
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
        ) { [log, profile = made.profile] error in log.error("\(profile) is shared at no terminal: \(error.message)") }
        made.endpoints.append(endpoint)
      }
    } catch {
      log.error("\(made.profile) is not shared: \(error.message)")
      return await close(made)
    }
    for endpoint in made.endpoints { log.notice("\(made.profile) is shared at \(endpoint.label)") }
    endpoints[made.profile] = made
    let (profile, news) = (made.profile, made.hub.news)
    made.following = Task { [weak self] in
      for await one in news { await self?.heard(one, at: profile) }
    }
  }

  /// Creates the folder of the endpoints. Every user may list it; the permission bits of each endpoint say who may open it.
  private static func makeFolder(_ path: String) throws(AccessoryError) {
    guard mkdir(path, 0o755) == 0 || errno == EEXIST, chmod(path, 0o755) == 0 else {
      throw AccessoryError(errno: Errno(rawValue: errno), "making the folder \(path)")
    }
  }

  private func close(_ old: ProfileEndpoints) async {
    old.following?.cancel()
    release(old)
    for endpoint in old.endpoints { await endpoint.close() }
    await old.hub.close()
  }

  // MARK: - Connecting an accessory

  /// Connects an attached accessory to its profile's endpoints, if the profile shares it.
  func offer(_ attachment: Attachment) {
    guard let name = attachment.profile?.name, let places = endpoints[name] else { return }
    guard !places.isConnected else {
      var isIts = places.key == attachment.key
      if !isIts, let key = places.key { isIts = isOnOneLine(key, attachment) }
      if !isIts { log.notice("\(attachment.name) is not shared: \(name) shares another accessory already") }
      return changed(name)
    }
    release(places)
    if places.sharing.writers != .none,
      let refusal = opener(for: attachment).writeRules.refusalOfBytes(
        isAsked: places.sharing.asksToWrite,
        asking: "its share must say write: true, or writers: none if programs are only to read")
    {
      return log.error("\(attachment.name) is not shared: \(refusal.message)")
    }
    let feed = ShareFeed(
      label: attachment.target.address.description, timing: .instant, line: nil, hearsAlways: true)
    // This feed reserves the endpoints while `connect` reads the line, so that no other accessory is connected to them.
    (places.feed, places.key) = (feed, attachment.key)
    Task { await connect(places, to: attachment) }
  }

  private func isOnOneLine(_ key: Int, _ attachment: Attachment) -> Bool {
    attachments[key].map { attachment.sharesLine(with: $0) } ?? false
  }

  private func connect(_ places: ProfileEndpoints, to attachment: Attachment) async {
    let label = attachment.target.address.description
    let known = try? await attachment.open?.session.line?.status()
    let line = known.map { SharedLineControl(label: label, known: $0) }
    let hub = places.hub
    places.line = line
    sharing(of: attachment).onLoan = { lent in
      line?.use(lent)
      if lent != nil { await hub.lineWasReopened() }
    }
    places.feed = await connect(hub, to: attachment, line: line)
    changed(places.profile)
  }

  /// Disconnects the accessory from these endpoints.
  private func release(_ places: ProfileEndpoints) {
    places.feed?.end(nil)
    if let key = places.key, let writer = places.writer { removeWriter(key, writer) }
    if let key = places.key { attachments[key]?.sharing?.onLoan = nil }
    (places.feed, places.key, places.line, places.writer) = (nil, nil, nil, nil)
  }

  // MARK: - Clients of the endpoints

  private func heard(_ news: SharingNews, at profile: String) {
    switch news {
    case .left(let name, let reason?): log.notice("\(profile): \(name) is gone: \(reason)")
    case .refused(let name, let reason): log.notice("\(profile): \(name) was turned away: \(reason)")
    case .unheard(let name): log.notice("\(profile): \(name) may not write: what it sends is thrown away")
    case .joined, .left, .deviceCame, .deviceWent, .skipping, .notAFrame, .frameRefused, .noContact, .reset,
      .lineRefused:
      break
    }
    changed(profile)
  }

  /// Checks the endpoints after a client or the accessory has come or gone.
  private func changed(_ profile: String) {
    Task { await look(profile) }
  }

  /// Has the line lent to the endpoints' hub when a program has an endpoint open or bytes wait, and returned otherwise.
  private func look(_ profile: String) async {
    guard let places = endpoints[profile] else { return }
    places.listeners = await places.hub.listenerCount
    checkIdle()
    guard places.isConnected, let key = places.key, let attachment = attachments[key] else {
      if places.feed != nil { release(places) }
      return
    }
    guard places.sharing.writers != .none else {
      // An accessory that was closed because it was idle sends nothing, so it is opened for the readers.
      if places.listeners > 0 { perform(attachment.machine.wake(now: clock.now), on: attachment) }
      return
    }
    let hasOutput = await sharing(of: attachment).line.hasOutput
    guard places.isConnected, places.key == key, !places.isAsking else { return }
    let isWanted = places.listeners > 0 || hasOutput
    if isWanted, places.writer == nil {
      places.isAsking = true
      await ask(places, attachment)
      places.isAsking = false
      // The programs may have left while the line was being lent.
      if places.writer != nil { changed(profile) }
    } else if !isWanted, let writer = places.writer {
      places.writer = nil
      removeWriter(key, writer)
    }
  }

  private func ask(_ places: ProfileEndpoints, _ attachment: Attachment) async {
    let name = "who has \(places.endpoints.map(\.label).joined(separator: " or ")) open"
    do throws(CallError) {
      let (owner, writer) = try await addWriter(
        attachment, name, isAsked: places.sharing.asksToWrite, text: attachment.device.id)
      guard places.isConnected, owner.key == places.key else { return removeWriter(owner.key, writer) }
      places.writer = writer
    } catch {
      log.notice("\(attachment.name) is not lent to \(name): \(error.accessoryError.message)")
      _ = clock.schedule(at: clock.now + Self.pause) { [weak self, profile = places.profile] in
        self?.post { $0.changed(profile) }
      }
    }
  }

  /// The pause after which the line is requested again when it could not be lent.
  private static let pause = Duration.seconds(1)

  /// Whether a client reads the accessory's bytes, over the control socket or at an endpoint of the profile.
  func isHeard(_ attachment: Attachment) -> Bool {
    (attachment.sharing.map { $0.readerCount > 0 } ?? false)
      || endpoints.values.contains { $0.key == attachment.key && $0.listeners > 0 }
  }
}
