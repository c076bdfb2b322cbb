// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A state of the service that is kept in a file as a text. Used on the service's actor only.
protocol KeptState: AnyObject {
  /// The file, and when it is written.
  var kept: KeptText { get }
  /// The state as a text.
  func text(on service: isolated BridgeService) -> String
  /// Takes a text that an earlier run of the service has written. Returns false where it is none.
  func take(_ text: String, on service: isolated BridgeService) -> Bool
}

/// Reads a state when the service starts, and writes it when it has changed, on a queue of its own. A file that can't be read is tried
/// again, and isn't written before. Used on the service's actor only.
final class KeptText {
  /// The state in messages: "known of equal serial numbers".
  private let subject: String
  /// The largest file that is read, in bytes.
  private let sizeLimit: Int
  private let state: @Sendable (isolated BridgeService) -> any KeptState
  /// The file and the queue on which it is written; nil to keep the state in memory only.
  private var file: (file: any HistoryFile, queue: SetupQueue)?
  /// The last write.
  private var work: Task<Void, Never>?
  private var isFailing = false
  private var isRead = false
  private var isEnded = false
  /// The timers until the file is read again, and until it is written.
  private var (retry, writing) = (DeadlineTimer(), DeadlineTimer())

  init(
    _ subject: String, sizeLimit: Int, of state: @escaping @Sendable (isolated BridgeService) -> any KeptState
  ) {
    (self.subject, self.sizeLimit, self.state) = (subject, sizeLimit, state)
  }

  /// Reads what an earlier run of the service has saved, and saves to `file` from now on. Waits a limited time for the disk.
  func keep(in file: any HistoryFile, on service: isolated BridgeService) async {
    guard self.file == nil else { return }
    self.file = (file, SetupQueue(label: "state"))
    let reading = Task { await read(on: service) }
    if await HistoryRecorder.within(HistoryRecorder.patience, service.clock, { await reading.value }) == nil {
      service.log.warning("the disk doesn't answer, so \(file.path) isn't read yet")
    }
  }

  func read(on service: isolated BridgeService) async {
    retry.ended()
    guard let (file, queue) = file else { return }
    let limit = sizeLimit
    let result = await queue.run { () -> Result<[UInt8]?, AccessoryError> in
      do throws(AccessoryError) {
        try file.prepare()
        return .success(try file.read(limit: limit))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let bytes):
      isRead = true
      if let bytes, !state(service).take(String(decoding: bytes, as: UTF8.self), on: service) {
        service.log.warning(
          "\(bytes.isEmpty ? file.emptiness : "\(file.path) is damaged"): what was \(subject) is lost")
      }
    case .failure(let error):
      if !isFailing {
        service.log.warning("what is \(subject) can't be read: \(error.message); it is tried again")
      }
      isFailing = true
      // Another service uses the file.
      if error.kind == .busy { return self.file = nil }
      retry.set(service.clock.now + HistoryRecorder.shortPause, on: service.clock) { [weak service, state] in
        service?.post { service in service.run { await service.read(state) } }
      }
    }
  }

  /// Writes the state after this time, with all that changes until then.
  func write(after pause: Duration, on service: isolated BridgeService) {
    guard file != nil, !service.isClosing else { return }
    writing.advance(to: service.clock.now + pause, on: service.clock) { [weak service, state] _ in
      service?.post { state($0).kept.write(on: $0) }
    }
  }

  /// Writes the state now.
  func write(on service: isolated BridgeService) {
    writing.cancel(on: service.clock)
    guard isRead, !isEnded, let (file, queue) = file else { return }
    let (bytes, before) = (Array(state(service).text(on: service).utf8), work)
    work = Task {
      await before?.value
      let error = await queue.run { () -> AccessoryError? in
        do throws(AccessoryError) { try file.replace(bytes) } catch { return error }
        return nil
      }
      wrote(error, on: service)
    }
  }

  /// Writes the state as it is before the service lets go of everything. What would be written after that isn't.
  func end(on service: isolated BridgeService) {
    write(on: service)
    isEnded = true
  }

  private func wrote(_ error: AccessoryError?, on service: isolated BridgeService) {
    if let error, !isFailing {
      service.log.warning("what is \(subject) can't be written: \(error.message)")
    }
    isFailing = error != nil
  }

  /// Waits a limited time for the last write.
  func finish(on service: isolated BridgeService) async {
    retry.cancel(on: service.clock)
    writing.cancel(on: service.clock)
    guard let work else { return }
    _ = await HistoryRecorder.within(HistoryRecorder.patience, service.clock) { await work.value }
  }
}

extension BridgeService {
  /// Reads a state once more.
  fileprivate func read(_ state: @Sendable (isolated BridgeService) -> any KeptState) async {
    await state(self).kept.read(on: self)
  }
}
