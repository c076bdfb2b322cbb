// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

// The file of the history. It is read before the first accessory is attached, and written on a queue of its own, one
// write at a time and at most once a minute for all accessories; a disk that hangs delays nothing else. The timer for the
// next write exists only while there is something new.

extension BridgeService {
  /// How long after the first new reading a write begins, and so how much a crash may cost.
  static let historyPause = Duration.seconds(60)
  /// How long the start of the service waits for the file, and its end for the last write.
  static let historyPatience = Duration.seconds(5)

  /// Reads the history that an earlier run of the service has left, and keeps it in `file` from now on.
  func keepHistory(in file: any HistoryFile) async {
    let queue = SetupQueue(label: "history")
    let result = await within(Self.historyPatience) {
      await queue.run { () -> Result<HistoryContents?, AccessoryError> in
        do throws(AccessoryError) {
          try file.prepare()
          return .success(try file.read(limit: HistoryContents.limit).map { HistoryContents($0) })
        } catch {
          return .failure(error)
        }
      }
    }
    historyFile = (file, queue)
    switch result {
    case nil:
      log.warning("the disk doesn't answer for \(file.path): the history begins anew")
    case .failure(let error):
      log.warning("history not read: \(error.message); it is kept in memory, and another try is made to write it")
      isHistoryFailing = true
      // Another service has the file: it isn't this one's to write.
      if error.kind == .busy { historyFile = nil }
    case .success(let contents?):
      if contents.dropped > 0 {
        log.warning(
          "\(file.path): \(contents.dropped) bytes were damaged and are dropped, the rest of the history is kept")
      }
      history = HistoryKeeper(
        uptime: clock.bootTime, wall: configuration.wallClock(), boot: configuration.boot, after: contents)
      log.info("the history of \(history.store.accessories.count) accessories was read from \(file.path)")
    case .success(nil):
      history = HistoryKeeper(uptime: clock.bootTime, wall: configuration.wallClock(), boot: configuration.boot)
      log.debug("there is no history yet at \(file.path)")
    }
  }

  /// Sets the timer for the next write, if there is something new and no write is on its way.
  func scheduleHistoryWrite() {
    guard historyFile != nil, historyTimer == nil, historyWork == nil, !isClosing, history.isUnwritten else { return }
    historyTimer = clock.schedule(at: clock.now + Self.historyPause) { [weak self] in
      self?.post { service in
        service.historyTimer = nil
        service.writeHistory()
      }
    }
  }

  private func writeHistory() {
    guard historyWork == nil, let (file, queue) = historyFile,
      let write = history.takeWrite(at: clock.bootTime, wall: configuration.wallClock())
    else { return }
    historyWork = Task {
      let result = await queue.run { () -> Result<Int, AccessoryError> in
        do throws(AccessoryError) { return .success(try write.perform(on: file)) } catch { return .failure(error) }
      }
      self.wroteHistory(write, result)
    }
  }

  private func wroteHistory(_ write: HistoryWrite, _ result: Result<Int, AccessoryError>) {
    historyWork = nil
    switch result {
    case .success(let count):
      let isWhole = if case .whole = write.content { true } else { false }
      history.wrote(count, asWhole: isWhole)
      if isHistoryFailing { log.notice("the history is written again") }
      isHistoryFailing = false
    case .failure(let error):
      history.failedToWrite()
      if !isHistoryFailing {
        log.warning(
          "the history can't be written: \(error.message); it is kept in memory, and tried again each minute")
      }
      isHistoryFailing = true
    }
    scheduleHistoryWrite()
  }

  /// Writes what is new, at the end of the service. Waits for a slow disk, but not for long.
  func finishHistory() async {
    if let historyTimer { clock.cancel(historyTimer) }
    historyTimer = nil
    _ = await within(Self.historyPatience) {
      await self.historyWork?.value
      await self.writeHistoryNow()
    }
  }

  private func writeHistoryNow() async {
    writeHistory()
    await historyWork?.value
  }

  /// The result of `body`; nil when it takes longer than `limit`. Then `body` keeps running, and its result is dropped.
  private nonisolated func within<Value: Sendable>(
    _ limit: Duration, _ body: @escaping @Sendable () async -> Value
  ) async -> Value? {
    // The service ends in a task that was cancelled, in which a stream ends at once; a task of its own isn't cancelled.
    await Task { () -> Value? in
      let (results, continuation) = AsyncStream<Value?>.makeStream()
      let timer = self.clock.schedule(at: self.clock.now + limit) { continuation.yield(nil) }
      defer { self.clock.cancel(timer) }
      Task { continuation.yield(await body()) }
      for await result in results { return result }
      return nil
    }.value
  }
}
