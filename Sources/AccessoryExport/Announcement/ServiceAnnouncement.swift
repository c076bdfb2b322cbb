// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import MessageBus

/// Announces a service of this machine on the local network by Avahi, through the system bus on the I/O thread. It is announced again
/// when Avahi starts again, and no longer when this program ends, however it ends. It has no timers but while a call waits, and after
/// the bus itself has ended.
///
///     let announcement = ServiceAnnouncement(service)
///     await announcement.start()
///     for await state in announcement.states { log(state.text(service)) }
package actor ServiceAnnouncement: IOActor {
  package nonisolated let io: IOThread
  /// What becomes of the announcement: each change of it, from `start` to `close`.
  package nonisolated let states: AsyncStream<AnnouncementState>

  private nonisolated let continuation: AsyncStream<AnnouncementState>.Continuation
  private let address: String?
  private let clock: any TimerClock
  private var service: AnnouncedService
  private var bus: BusConnection?
  /// Avahi's unique name on the bus; empty while it doesn't run. Only its signals count: any program can send us some.
  private var owner = ""
  /// The group that has the service, if Avahi has made one.
  private var group: String?
  private var state: AnnouncementState?
  /// Counts what makes an announcement that is under way out of date.
  private var turn = 0
  private var isClosed = false
  private var retries = 0

  /// So often is a bus tried again that has ended: for two minutes.
  private static let retryLimit = 7
  private static let callLimit = Duration.seconds(5)

  /// The I/O thread.
  package nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// An announcement that hasn't begun, by the bus at `address`, by default the system bus.
  package init(
    _ service: AnnouncedService, address: String? = nil, io: IOThread = .shared, clock: any TimerClock = IOThread.shared
  ) {
    (self.service, self.address, self.io, self.clock) = (service, address, io, clock)
    (states, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(16))
  }

  deinit {
    bus?.beginClose()
    continuation.finish()
  }

  /// Announces the service, and returns when that has been asked for, or can't be.
  package func start() async {
    guard bus == nil, !isClosed else { return }
    let bus = BusConnection(io: io) { [weak self] signal in
      self?.enter(signal) { $0.take($1) }
    } onEnd: { [weak self] failure in
      self?.enter(failure) { $0.busHasEnded($1) }
    }
    self.bus = bus
    do throws(BusFailure) {
      try await bus.open(address, rules: Avahi.rules)
      let owner = try await bus.call(Avahi.findOwner, within: Self.callLimit).values.first?.text ?? ""
      retries = 0
      // It may have started since the bus answered; a signal has reported that.
      if self.owner.isEmpty { self.owner = owner }
      await announce()
    } catch {
      // Without the bus nobody reports that Avahi has started.
      if error.name != Avahi.bus + ".Error.NameHasNoOwner" { await endBus() }
      tell(.unavailable(Avahi.error(error)))
    }
  }

  /// Announces the service as this one from now on.
  package func update(_ service: AnnouncedService) async {
    guard service != self.service, !isClosed else { return }
    self.service = service
    guard bus != nil, !owner.isEmpty else { return }
    await announce()
  }

  /// Takes the announcement back. `states` ends.
  package func close() async {
    guard !isClosed else { return }
    isClosed = true
    turn += 1
    if let bus, let group { _ = try? await bus.call(Avahi.call(group, "Reset"), within: Self.callLimit) }
    await endBus()
    continuation.finish()
  }

  private func endBus() async {
    let bus = bus
    (self.bus, owner, group) = (nil, "", nil)
    await bus?.close()
  }

  private func tell(_ state: AnnouncementState) {
    guard state != self.state, !isClosed else { return }
    self.state = state
    continuation.yield(state)
  }

  // MARK: - Announcing

  /// Asks Avahi to announce the service, unless it is still looking for its host's name: then its signal has this done.
  private func announce() async {
    turn += 1
    let mine = turn
    do throws(BusFailure) {
      guard let bus else { throw .disconnected }
      guard try await bus.call(Avahi.state, within: Self.callLimit).values.first?.integer == Avahi.runs, mine == turn
      else { return }
      if let group {
        _ = try await bus.call(Avahi.call(group, "Reset"), within: Self.callLimit)
      } else {
        let made = try await bus.call(Avahi.newGroup, within: Self.callLimit).values.first?.path
        guard mine == turn else { return }
        group = made
      }
      guard mine == turn, let group else { return }
      _ = try await bus.call(Avahi.add(service, to: group), within: Self.callLimit)
      guard mine == turn else { return }
      // A signal tells what becomes of it.
      _ = try await bus.call(Avahi.call(group, "Commit"), within: Self.callLimit)
    } catch {
      guard mine == turn else { return }
      tell(error.name == Avahi.collision ? .nameIsTaken : .unavailable(Avahi.error(error)))
    }
  }

  // MARK: - What the bus tells

  private func take(_ signal: BusMessage) {
    if signal.sender == Avahi.bus, signal.member == "NameOwnerChanged" {
      let texts = signal.values.compactMap(\.text)
      guard texts.count == 3, texts[0] == Avahi.name else { return }
      ownerHasChanged(texts[2])
    } else if signal.sender == owner, signal.member == "StateChanged", let number = signal.values.first?.integer {
      if signal.interface == Avahi.server {
        serverHasChanged(number)
      } else if signal.interface == Avahi.group, signal.path == group {
        groupHasChanged(number, signal.values.dropFirst().first?.text ?? "")
      }
    }
  }

  private func ownerHasChanged(_ name: String) {
    guard name != owner else { return }
    (owner, group) = (name, nil)
    turn += 1
    if name.isEmpty { tell(.unavailable(Avahi.isMissing)) } else { Task { await announce() } }
  }

  /// Avahi looks for another name of its host, and drops what it announced under the old one.
  private func serverHasChanged(_ number: Int64) {
    turn += 1
    if number == Avahi.runs { Task { await announce() } }
  }

  private func groupHasChanged(_ number: Int64, _ text: String) {
    switch Avahi.GroupState(rawValue: number) {
    case .established: tell(.announced)
    case .collision: tell(.nameIsTaken)
    case .failure:
      tell(.unavailable(AccessoryError(.refused, "Avahi failed: \(SafeText.escape(text, limit: 200))")))
    case .uncommitted, .registering, nil: break
    }
  }

  private func busHasEnded(_ failure: BusFailure) {
    (bus, owner, group) = (nil, "", nil)
    turn += 1
    tell(.unavailable(Avahi.error(failure)))
    guard retries < Self.retryLimit, !isClosed else { return }
    let pause = Duration.seconds(1 << retries)
    retries += 1
    Task { [weak self, clock] in
      await clock.sleep(for: pause)
      await self?.start()
    }
  }
}
