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
  private var lastSave: MonotonicTime?
  /// The ways with a message that is being sent.
  private var busy: Set<String> = []
  private var timer: TimerToken?
  private var saving: Task<Void, Never>?
  private var cannotSave = false
  private var dropped = RateLimit(atOnce: 1, perSecond: 1.0 / 60)
  private var droppedCount = 0
  /// The connections to services, and the drivers and profiles of their accessories.
  private var clients: [String: BridgeClient] = [:]
  private var facts: [String: [String: (driver: String?, profile: String?)]] = [:]

  /// The longest file.
  private static let fileLimit = 32 << 20
  /// The shortest pauses between two saves. A message that is new or sent is saved at once, unless the last save was just now: so a loss
  /// of power costs at most what came in the last seconds, and the services say again which alarms are raised. What has only changed
  /// within a message isn't worth a write.
  private static let savePause = (message: Duration.seconds(5), change: Duration.seconds(300))

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
    changed()
  }

  /// Begins to save, or returns when that is due; nil if there is nothing to save. Nothing waits for the disk, which may be slow.
  private func save() -> MonotonicTime? {
    let kept = book.kept
    guard let file, saving == nil, kept != written else { return nil }
    let pause = kept.isUnsaved(in: written) ? Self.savePause.message : Self.savePause.change
    if let lastSave, clock.now < lastSave + pause { return lastSave + pause }
    lastSave = clock.now
    saving = Task {
      let error = await write(kept, file)
      if let error, !cannotSave {
        log(.warning("waiting messages can't be kept on disk: \(error.message); they are in memory"))
      }
      (cannotSave, written, saving) = (error != nil, kept, nil)
      changed()
    }
    return nil
  }

  private func write(_ book: MessageBook, _ file: StateFile) async -> AccessoryError? {
    await queue.run {
      do throws(AccessoryError) {
        guard let bytes = try? JSON(encoding: book).bytes else { return nil }
        try file.replace(bytes)
      } catch {
        return error
      }
      return nil
    }
  }

  /// Saves what isn't saved yet. To be called at the end.
  package func close() async {
    while let saving { await saving.value }
    if let file, book.kept != written { _ = await write(book.kept, file) }
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
      let name = device.given?.name ?? device.name.flatMap { $0.isEmpty ? nil : $0 } ?? device.id
      if book.raise(alarm, accessory: device.id, name: name, service: place, ways: names, at: wallClock()) {
        log(.info("\(SafeText.escape(device.id)): raised: \(SafeText.escape(alarm.rule, limit: 200))"))
      }
    case .event(.alarm(let device, let alarm, .cleared)):
      if book.clear(alarm, accessory: device.id, service: place, at: wallClock()) {
        log(.info("\(SafeText.escape(device.id)): cleared: \(SafeText.escape(alarm.rule, limit: 200))"))
      }
    // Its driver or its profile may be another one now.
    case .event(.connected(let device)): facts[place]?[device.id] = nil
    case .ended: (clients[place], facts[place]) = (nil, nil)
    case .event, .read: return
    }
    changed()
  }

  /// The driver and the profile of an accessory, as the service's list has them.
  private func facts(of device: Device, _ place: String) async -> (driver: String?, profile: String?)? {
    if let known = facts[place]?[device.id] { return known }
    guard let client = clients[place], let list = try? await client.list() else { return nil }
    var known: [String: (driver: String?, profile: String?)] = [:]
    for record in list { known[record.device.id] = (record.driver, record.profile) }
    // Of one that isn't in the list it is known that there are none.
    if known[device.id] == nil { known[device.id] = (nil, nil) }
    facts[place] = known
    return known[device.id]
  }

  // MARK: - Sending

  /// Saves what is new, sends what is due, and sets the timer.
  private func changed() {
    let now = wallClock()
    book.timePassed(now, ways: ways)
    let saveTime = save()
    for way in ways where !busy.contains(way.name) {
      guard let next = book.next(of: way.name, at: now) else { continue }
      busy.insert(way.name)
      Task {
        let outcome = await send(next.message, way)
        ended(next, way, outcome)
      }
    }
    droppedCount += book.takeDropped()
    if droppedCount > 0, dropped.admit(now: clock.now) {
      log(.warning("\(Amount.of(droppedCount, "message", is: ("was", "were"))) dropped: too many or too old ones wait"))
      droppedCount = 0
    }
    schedule(now, saveTime)
  }

  private func schedule(_ now: Double, _ saveTime: MonotonicTime?) {
    if let timer { clock.cancel(timer) }
    let idle = ways.filter { !busy.contains($0.name) }
    // The wall clock may be set, so look at it at least each hour.
    let time = book.deadline(ways: idle, at: now).map {
      clock.now + .milliseconds(Int64(min(max($0 - now, 0.05), 3_600) * 1_000) + 1)
    }
    timer = [time, saveTime].compactMap(\.self).min().map {
      clock.schedule(at: $0) { [weak self] in Task { await self?.changed() } }
    }
  }

  private func ended(_ tried: WaitingMessage, _ way: MessageWay, _ outcome: MessageOutcome) {
    busy.remove(way.name)
    switch outcome {
    case .sent:
      if book.isFailing(way.name) { log(.notice("\(way.name): messages are sent again")) }
      book.finished(tried, at: wallClock())
      log(.info("\(way.name): sent: \(tried.message.title)"))
    case .refused(let reason):
      log(.warning("\(way.name): a message is given up: \(reason)"))
      book.finished(tried, at: wallClock(), isGivenUp: true)
    case .failed(let reason):
      let isFirst = !book.isFailing(way.name)
      let pause = book.failed(tried, at: wallClock())
      if isFirst {
        log(
          .warning(
            "\(way.name): a message can't be sent: \(reason); it is tried again in \(Int(pause)) s, then less often"))
      }
    }
    changed()
  }
}
