// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO

/// Records accessories' readings over time, in memory and in a file. It makes no readings of its own: it records those that the
/// service makes anyway.
///
/// The file is read before the first accessory is attached. It is written on a queue of its own, one write at a time and at most once
/// in a quarter of an hour for all accessories, so a slow disk delays nothing else. The timer for the next write exists only while
/// there is something to write. Used on the service's actor only.
final class HistoryRecorder {
  private(set) var keeper: HistoryKeeper
  /// The files and the queue on which they are written; nil to keep the history in memory only.
  private var disk: (files: HistoryDisk, queue: SetupQueue)?
  private var timer: TimerToken?
  /// The write in progress.
  private var work: Task<Void, Never>?
  /// Whether the last write failed. A failure is logged once.
  private var isFailing = false
  /// Whether the last write succeeded.
  private var hasWritten = false
  /// The hour in which hours that were over were last written to the long history, and whether that failed.
  private var longHour: UInt32?
  private var isLongFailing = false

  /// How long after the first new reading a write starts. A crash or a loss of power loses at most this much.
  static let pause = Duration.seconds(900)
  /// The same for the first write and after a failure, so that it is known soon whether the disk can be written.
  static let shortPause = Duration.seconds(60)
  /// How long the service's start waits for the file, and its end for the last write.
  static let patience = Duration.seconds(5)

  init(_ keeper: HistoryKeeper) { self.keeper = keeper }

  /// Whether a write is in progress.
  var isWriting: Bool { work != nil }

  // MARK: - Readings

  func record(_ reading: BatteryReading, of attachment: Attachment, on service: isolated BridgeService) {
    record(
      reading.historyValues.map { ($0.name, $0.unit, $0.value) }, of: attachment.historyKey,
      holds: !attachment.readings.freshness.isRenewed(.battery), on: service)
  }

  /// Records the numbers among the values.
  func record(_ values: [AccessoryValue], of attachment: Attachment, on service: isolated BridgeService) {
    record(
      values.prefix(ReadingLimits.values).compactMap { value in
        let value = value.bounded
        return value.historyNumber.map { (value.name, value.unit?.rawValue, $0) }
      }, of: attachment.historyKey, holds: !attachment.readings.freshness.isRenewed(.values), on: service)
  }

  /// Records these values. With `holds` nobody reads them again and again, so each holds until the next one while the accessory is
  /// attached.
  func record(
    _ values: [(name: String, unit: String?, value: Double)], of id: String, holds: Bool = false,
    on service: isolated BridgeService
  ) {
    guard !values.isEmpty else { return }
    let isKept = keeper.note(
      values, of: id, holds: holds, at: service.clock.bootTime, wall: service.configuration.wallClock())
    scheduleWrite(on: service)
    if !isKept {
      service.log.notice(
        "\(SafeText.escape(id)) has more values than the history keeps: it keeps the first \(HistoryLimits.seriesLimit)"
      )
    }
  }

  /// Whether something was read under this name.
  func knows(_ id: String) -> Bool { keeper.knows(id) }

  /// Notes that an accessory is disconnected.
  func interrupt(_ id: String) { keeper.interrupt(id) }

  /// The readings of the last `seconds`, also of days and months. Waits for the disk a limited time, and then has the last day only.
  /// Returns nil if the accessory has no readings.
  func answer(of id: String, last seconds: Double?, on service: isolated BridgeService) async -> HistoryAnswer? {
    var answer = keeper.answer(
      of: id, last: seconds, at: service.clock.bootTime, wall: service.configuration.wallClock())
    let (since, now) = (answer.since, answer.now)
    if answer.seconds > HistoryTier.recentReach, let (files, queue) = disk {
      let result = await Self.within(Self.patience, service.clock) {
        await Self.run(on: queue) { () throws(AccessoryError) in try files.extract(of: id, since: since, now: now) }
      }
      switch result {
      case .success(let read)?: answer.long = read
      case .failure(let error)?: service.log.warning("the history of days can't be read: \(error.message)")
      case nil: service.log.warning("the disk doesn't answer, so the history of days isn't in an answer")
      }
    }
    return answer.isEmpty ? nil : answer
  }

  // MARK: - The files

  private static func run<Value: Sendable>(
    on queue: SetupQueue, _ body: @escaping @Sendable () throws(AccessoryError) -> Value
  ) async -> Result<Value, AccessoryError> {
    await queue.run { Result(catching: body) }
  }

  /// Reads the history that an earlier run of the service has saved, and saves to these files from now on.
  func keep(in files: HistoryDisk, on service: isolated BridgeService) async {
    guard disk == nil else { return }
    let (file, queue) = (files.file, SetupQueue(label: "history"))
    let result = await Self.within(Self.patience, service.clock) {
      await Self.run(on: queue) { () throws(AccessoryError) in (try files.read(), emptyFiles: files.emptyFiles) }
    }
    disk = (files, queue)
    switch result {
    case nil:
      service.log.warning("the disk doesn't answer, so \(file.path) was not read: a new history begins")
    case .failure(let error):
      service.log.warning(
        "the history can't be read: \(error.message); a new one is kept in memory, and writing it is tried again")
      isFailing = true
      // Another service uses the file, so don't write to it.
      if error.kind == .busy { disk = nil }
    case .success((let contents, let emptyFiles)):
      for file in emptyFiles {
        service.log.warning("\(file.emptiness): the days that it had are missing in the history")
      }
      keeper = HistoryKeeper(
        uptime: service.clock.bootTime, wall: service.configuration.wallClock(), boot: service.configuration.boot,
        after: contents)
      guard let contents else {
        service.log.debug("there is no history yet at \(file.path)")
        return
      }
      if contents.byteCount == 0 {
        service.log.warning("\(file.emptiness): a new history begins")
      } else if contents.dropped > 0 {
        let damaged = Amount.of(contents.dropped, "damaged byte", is: ("was", "were"))
        service.log.warning("\(file.path): \(damaged) dropped; the rest of the history is kept")
      }
      let count = Amount.of(keeper.store.accessories.count, "accessory")
      service.log.info("the history of \(count) was read from \(file.path)")
    }
  }

  /// Sets the timer for the next write, if there is something new and no write is in progress.
  private func scheduleWrite(on service: isolated BridgeService) {
    guard disk != nil, timer == nil, work == nil, !service.isClosing, keeper.isUnwritten else { return }
    timer = service.clock.schedule(at: service.clock.now + (hasWritten ? Self.pause : Self.shortPause)) {
      [weak service] in
      service?.post { $0.history.timePassed(on: $0) }
    }
  }

  private func timePassed(on service: isolated BridgeService) {
    timer = nil
    write(on: service)
  }

  private func write(isLast: Bool = false, on service: isolated BridgeService) {
    let wall = service.configuration.wallClock()
    guard work == nil, let (files, queue) = disk,
      let write = keeper.takeWrite(at: service.clock.bootTime, wall: wall, isLast: isLast)
    else { return }
    // Once an hour, and when that failed.
    let isHourNew = HistoryDisk.hour(at: wall) != longHour
    let (store, offset) = (keeper.store, keeper.timeline.offset)
    work = Task {
      let result = await Self.run(on: queue) { () throws(AccessoryError) in try files.write(write) }
      if isHourNew {
        let result = await Self.run(on: queue) { () throws(AccessoryError) in
          try files.note(store, offset: offset, wall: wall)
        }
        wroteLong(HistoryDisk.hour(at: wall), result, on: service)
      }
      wrote(write, result, on: service)
    }
  }

  private func wroteLong(_ hour: UInt32, _ result: Result<Void, AccessoryError>, on service: isolated BridgeService) {
    switch result {
    case .success:
      (longHour, isLongFailing) = (hour, false)
      // So a loss of power costs no more than an hour of what was read last.
      service.memory.kept.write(on: service)
    case .failure(let error):
      if !isLongFailing {
        service.log.warning(
          "the history of days can't be written: \(error.message); it is tried again, and loses nothing within a day")
      }
      isLongFailing = true
    }
  }

  private func wrote(
    _ write: HistoryWrite, _ result: Result<Int, AccessoryError>, on service: isolated BridgeService
  ) {
    work = nil
    switch result {
    case .success(let count):
      keeper.wrote(count, asWhole: write.isWhole)
      if isFailing { service.log.notice("the history can be written again") }
      isFailing = false
      hasWritten = true
    case .failure(let error):
      hasWritten = false
      keeper.failedToWrite()
      if !isFailing {
        service.log.warning(
          "the history can't be written: \(error.message); it is kept in memory, and writing is tried again each minute"
        )
      }
      isFailing = true
    }
    scheduleWrite(on: service)
  }

  /// Writes the rest when the service ends. Waits a limited time for a slow disk.
  func finish(on service: isolated BridgeService) async {
    if let timer { service.clock.cancel(timer) }
    timer = nil
    let writing = Task { await writeNow(on: service) }
    _ = await Self.within(Self.patience, service.clock) { await writing.value }
  }

  private func writeNow(on service: isolated BridgeService) async {
    await work?.value
    write(isLast: true, on: service)
    await work?.value
  }

  /// The result of `body`; nil if it takes longer than `limit`. In that case `body` continues and its result is discarded.
  static func within<Value: Sendable>(
    _ limit: Duration, _ clock: any TimerClock, _ body: @escaping @Sendable () async -> Value
  ) async -> Value? {
    // The service ends in a cancelled task, in which a stream would end at once. A new unstructured task isn't cancelled.
    await Task { () -> Value? in
      let (results, continuation) = AsyncStream<Value?>.makeStream()
      let timer = clock.schedule(at: clock.now + limit) { continuation.yield(nil) }
      defer { clock.cancel(timer) }
      Task { continuation.yield(await body()) }
      for await result in results { return result }
      return nil
    }.value
  }
}
