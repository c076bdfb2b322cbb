// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryIO

/// Tells people of the services' alarms. It follows the services' mirror, keeps what it has to tell in a file, and sends it.
package actor AlarmNotifier {
  /// Sends a message; may take as long as it likes.
  package typealias Send = @Sendable (AlarmMessage, MessageWay) async -> MessageOutcome
  /// Chooses the ways for an alarm of an accessory; nil for all.
  package typealias Choose = @Sendable (_ alarm: String, Device, _ driver: String?, _ profile: String?) -> [String]?

  /// A line for the log.
  package enum Line: Sendable {
    case info(String)
    case notice(String)
    case warning(String)
  }

  private let ways: [MessageWay]
  private let choose: Choose
  private let send: Send
  private let log: @Sendable (Line) -> Void
  private let clock: any TimerClock
  private let wallClock: @Sendable () -> Double
  private let file: StateFile?
  private let queue = SetupQueue(label: "messages")
  private var book = MessageBook()
  private var written: MessageBook?
  /// The ways with a message that is being sent.
  private var busy: Set<String> = []
  private var timer: TimerToken?
  private var isSaving = false
  private var cannotSave = false
  /// The connections to services, and the drivers and profiles of their accessories.
  private var clients: [String: BridgeClient] = [:]
  private var facts: [String: [String: (driver: String?, profile: String?)]] = [:]

  /// The longest file.
  private static let fileLimit = 8 << 20

  /// `file` is where the queue is kept; nil to keep it in memory.
  package init(
    _ ways: [MessageWay], file: StateFile?, clock: any TimerClock = IOThread.shared,
    wallClock: @escaping @Sendable () -> Double, log: @escaping @Sendable (Line) -> Void,
    choose: @escaping Choose, send: @escaping Send
  ) {
    (self.ways, self.file, self.clock, self.wallClock) = (ways, file, clock, wallClock)
    (self.log, self.choose, self.send) = (log, choose, send)
  }

  /// The number of messages that wait.
  package var waitingCount: Int { book.waiting.count }

  // MARK: - The file

  /// Reads what an earlier run has left. Throws `busy` if another program tells people already.
  package func open() async throws(AccessoryError) {
    guard let file else { return }
    let bytes = try await queue.run { () throws(AccessoryError) -> [UInt8]? in
      try file.prepare()
      return try file.read(limit: Self.fileLimit)
    }
    if let bytes {
      if let read = try? JSON(bytes).decoded(as: MessageBook.self), read.isSane {
        book = read
        book.keep(ways: ways.map(\.name))
      } else {
        log(.warning("\(file.path) is damaged: waiting messages are lost"))
      }
    }
    written = book
    if !book.waiting.isEmpty { log(.info("\(Amount.of(book.waiting.count, "message")) of an earlier run: sending")) }
    await changed()
  }

  private func save() async {
    guard let file, !isSaving, book != written else { return }
    isSaving = true
    while book != written {
      let saved = book
      let error = await queue.run { () -> AccessoryError? in
        do throws(AccessoryError) {
          guard let bytes = try? JSON(encoding: saved).bytes else { return nil }
          try file.replace(bytes)
        } catch {
          return error
        }
        return nil
      }
      if let error, !cannotSave {
        log(.warning("waiting messages can't be kept on disk: \(error.message); they are in memory"))
      }
      cannotSave = error != nil
      written = saved
    }
    isSaving = false
  }

  // MARK: - Events

  /// Takes what the mirror has learned of the service at `place`.
  package func take(_ event: MirrorEvent, of place: String) async {
    switch event {
    case .begun(let client):
      (clients[place], facts[place]) = (client, nil)
      book.begin(service: place, at: wallClock())
    case .event(.alarm(let device, let alarm, .raised)):
      let known = await facts(of: device, place)
      let chosen = choose(alarm.name, device, known?.driver, known?.profile)
      let names = ways.map(\.name).filter { chosen?.contains($0) ?? true }
      let name = device.name.flatMap { $0.isEmpty ? nil : $0 } ?? device.id
      log(.info("\(SafeText.escape(device.id)): raised: \(SafeText.escape(alarm.rule, limit: 200))"))
      book.raise(alarm, accessory: device.id, name: name, service: place, ways: names, at: wallClock())
    case .event(.alarm(let device, let alarm, .cleared)):
      log(.info("\(SafeText.escape(device.id)): cleared: \(SafeText.escape(alarm.rule, limit: 200))"))
      book.clear(alarm, accessory: device.id, service: place, at: wallClock())
    case .ended: (clients[place], facts[place]) = (nil, nil)
    case .event, .read: return
    }
    await changed()
  }

  /// The driver and the profile of an accessory, as the service's list has them.
  private func facts(of device: Device, _ place: String) async -> (driver: String?, profile: String?)? {
    if let known = facts[place]?[device.id] { return known }
    guard let client = clients[place], let list = try? await client.list() else { return nil }
    var known: [String: (driver: String?, profile: String?)] = [:]
    for record in list { known[record.device.id] = (record.driver, record.profile) }
    facts[place] = known
    return known[device.id]
  }

  // MARK: - Sending

  /// Saves what is new, sends what is due, and sets the timer.
  private func changed() async {
    let now = wallClock()
    book.timePassed(now, ways: ways)
    // On disk first: a loss of power loses no message.
    await save()
    for way in ways where !busy.contains(way.name) {
      guard let next = book.next(of: way.name, at: now) else { continue }
      busy.insert(way.name)
      Task {
        let outcome = await send(next.message, way)
        await ended(next, way, outcome)
      }
    }
    let dropped = book.takeDropped()
    if dropped > 0 {
      log(.warning("\(Amount.of(dropped, "message", is: ("was", "were"))) dropped: too many or too old ones wait"))
    }
    schedule(now)
  }

  private func schedule(_ now: Double) {
    if let timer { clock.cancel(timer) }
    timer = nil
    let idle = ways.filter { !busy.contains($0.name) }
    guard let deadline = book.deadline(ways: idle) else { return }
    // The wall clock may be set, so look at it at least each hour.
    let pause = min(max(deadline - now, 0.05), 3_600)
    timer = clock.schedule(at: clock.now + .milliseconds(Int64(pause * 1_000) + 1)) { [weak self] in
      Task { await self?.changed() }
    }
  }

  private func ended(_ tried: MessageBook.Waiting, _ way: MessageWay, _ outcome: MessageOutcome) async {
    busy.remove(way.name)
    switch outcome {
    case .sent:
      let wasFailing = book.isFailing(way.name)
      book.finished(tried)
      // On disk first: what is told to be sent isn't sent again by the next run.
      await save()
      if wasFailing { log(.notice("\(way.name): messages are sent again")) }
      log(.info("\(way.name): sent: \(tried.message.title)"))
    case .refused(let reason):
      log(.warning("\(way.name): a message is given up: \(reason)"))
      book.finished(tried, isGivenUp: true)
    case .failed(let reason):
      let isFirst = !book.isFailing(way.name)
      let pause = book.failed(tried, at: wallClock())
      if isFirst {
        log(
          .warning(
            "\(way.name): a message can't be sent: \(reason); it is tried again in \(Int(pause)) s, then less often"))
      }
    }
    await changed()
  }
}

extension MessageBook {
  /// Whether a file can have been written by this program.
  var isSane: Bool {
    waiting.count <= Self.waitingLimit && told.count <= Self.toldLimit
      && failures.values.allSatisfy { $0.next.isFinite && (0...1_000_000).contains($0.count) }
      && waiting.allSatisfy { $0.message.time.isFinite }
      && told.allSatisfy { $0.ways.values.allSatisfy(\.isFinite) && $0.missingSince?.isFinite ?? true }
  }
}
