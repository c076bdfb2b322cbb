// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDiscovery
import AccessoryIO

/// The identities that several accessories have, in memory and in a file, so that they have their names by their ports also when only one
/// of them is there after the service's next start. Used on the service's actor only.
final class KnownTwins {
  private var twins = Twins()
  /// The file and the queue on which it is written; nil to keep them in memory only.
  private var file: (file: any HistoryFile, queue: SetupQueue)?
  /// The last write.
  private var work: Task<Void, Never>?
  private var isFailing = false
  private var isRead = false
  /// The timer until the file is read again.
  private var retry = DeadlineTimer()

  /// The largest file that is read, in bytes.
  private static let sizeLimit = 1 << 20

  /// Reads what an earlier run of the service has saved, and saves to `file` from now on. A file that can't be read is tried again, and
  /// isn't written before.
  func keep(in file: any HistoryFile, on service: isolated BridgeService) async {
    guard self.file == nil else { return }
    self.file = (file, SetupQueue(label: "twins"))
    let reading = Task { await service.readTwins() }
    if await HistoryRecorder.within(HistoryRecorder.patience, service.clock, { await reading.value }) == nil {
      service.log.warning("the disk doesn't answer, so \(file.path) isn't read yet")
    }
  }

  func read(on service: isolated BridgeService) async {
    retry.ended()
    guard let (file, queue) = file else { return }
    let result = await queue.run { () -> Result<[UInt8]?, AccessoryError> in
      do throws(AccessoryError) {
        try file.prepare()
        return .success(try file.read(limit: Self.sizeLimit))
      } catch {
        return .failure(error)
      }
    }
    switch result {
    case .success(let bytes):
      isRead = true
      let before = twins
      if let bytes, !twins.take(String(decoding: bytes, as: UTF8.self)) {
        service.log.warning(
          "\(bytes.isEmpty ? file.emptiness : "\(file.path) is damaged"): what was known of equal serial numbers is lost"
        )
      }
      guard twins != before else { return }
      // Those that are there already have their ports in their names from now on.
      service.mark(twins.marked)
      if twins.text.utf8.count != bytes?.count { write(on: service) }
    case .failure(let error):
      if !isFailing {
        service.log.warning("what is known of equal serial numbers can't be read: \(error.message); it is tried again")
      }
      isFailing = true
      // Another service uses the file.
      if error.kind == .busy { return self.file = nil }
      retry.set(service.clock.now + HistoryRecorder.shortPause, on: service.clock) { [weak service] in
        service?.post { service in service.run { await service.readTwins() } }
      }
    }
  }

  /// The event with its devices marked, after the changes of those that have become twins by it.
  func take(_ event: DeviceEvent, on service: isolated BridgeService) -> [DeviceEvent] {
    let events = twins.take(event)
    if events.count > 1 {
      let id = events.last.map { SafeText.escape($0.device.lineIdentity) } ?? ""
      service.log.notice("several accessories have the identity \(id): from now on the name of each has its port")
      write(on: service)
    }
    return events
  }

  /// Whether what was recorded for the identity alone belongs to this one of the twins.
  func inherits(_ device: Device, on service: isolated BridgeService) -> Bool {
    let before = twins
    defer { if twins != before { write(on: service) } }
    return twins.inherits(device)
  }

  private func write(on service: isolated BridgeService) {
    guard isRead, let (file, queue) = file else { return }
    let (bytes, before) = (Array(twins.text.utf8), work)
    work = Task {
      await before?.value
      let error = await queue.run { () -> AccessoryError? in
        do throws(AccessoryError) { try file.replace(bytes) } catch { return error }
        return nil
      }
      wrote(error, on: service)
    }
  }

  private func wrote(_ error: AccessoryError?, on service: isolated BridgeService) {
    if let error, !isFailing {
      service.log.warning("what is known of equal serial numbers can't be written: \(error.message)")
    }
    isFailing = error != nil
  }

  /// Waits a limited time for the last write.
  func finish(on service: isolated BridgeService) async {
    retry.cancel(on: service.clock)
    guard let work else { return }
    _ = await HistoryRecorder.within(HistoryRecorder.patience, service.clock) { await work.value }
  }
}
