// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDrivers
import AccessoryIO
import AccessoryLink

extension OwnAccessory {
  func trace(_ plan: TracePlan) async throws(AccessoryError) -> any AccessoryTrace {
    if plan.asks { try await checkDriver() }
    let tap = TraceTap(since: plan.start)
    var own = self
    own.opener.tap = tap
    return OwnTrace(opener: own.opener, opened: try await own.openedDevice(), tap: tap, plan: plan)
  }
}

/// A trace of the bytes between this program and an accessory that it has opened.
struct OwnTrace: AccessoryTrace {
  let opener: DeviceOpener
  let opened: OpenedDevice
  let tap: TraceTap
  let plan: TracePlan

  var device: Device { opener.device }
  var name: String { opener.device.id }
  var servicePath: String? { nil }
  var silence: Duration { (opened.session?.transport.timing ?? .instant).silence }
  var remark: String? { Self.watchingNote(opener) }

  func run(into sink: some TraceSink) async throws {
    let conversation = Task {
      try await converse()
    }
    let printer = Task {
      await sink.begin { tap.mark() }
      do {
        for await record in tap.records { try await sink.take(record) }
      } catch {
        conversation.cancel()  // A recording that can't be written ends the trace.
        throw error
      }
    }
    let outcome = await withTaskCancellationHandler {
      await conversation.result
    } onCancel: {
      conversation.cancel()
    }
    var unplugTime: Duration?
    if case .failure(let error as AccessoryError) = outcome, error.kind == .disconnected {
      unplugTime = .now - plan.start
    }
    await opened.close()
    tap.finish()
    // Print the frames before an error first.
    try await sink.end(printer, unpluggedAt: unplugTime).get()
    try Task.checkCancellation()  // Ctrl-C is the usual end of a trace, also in the middle of a request.
    try outcome.get()
  }

  /// Listens, or also sends requests, until the accessory is unplugged or the task is cancelled.
  private func converse() async throws {
    guard plan.asks else {
      try await opened.ended()
      throw CancellationError()
    }
    let accessory = try await opener.contact(with: opened)
    let news = accessory.news()
    let listener = Task { for try await _ in news {} }
    defer { listener.cancel() }
    // An accessory that sends readings by itself may be silent now and send them later.
    let mayBeSilent = opener.driver?.freshness != nil
    var lacks: [String] = []
    if try await !Self.has(mayBeSilent, { _ = try await accessory.identify() }) { lacks.append("identity") }
    var isFirst = true
    repeat {
      let hasStatus = try await Self.has(mayBeSilent) { _ = try await accessory.status() }
      let hasBattery = try await Self.has(mayBeSilent) { _ = try await accessory.battery() }
      // An accessory without a battery has other values, or none that can be requested.
      let hasValues =
        if hasBattery { true } else { try await Self.has(mayBeSilent) { _ = try await accessory.values() } }
      if isFirst {
        lacks += (hasStatus ? [] : ["status"]) + (hasBattery ? [] : ["battery"]) + (hasValues ? [] : ["values"])
        if let note = Self.waitingNote(opener.label, lacking: lacks) { plan.note(note) }
      }
      isFirst = false
      guard let poll = plan.poll else { break }
      await IOThread.shared.sleep(for: poll)
    } while !Task.isCancelled
    if plan.poll == nil {
      try await withTaskCancellationHandler {
        try await listener.value
      } onCancel: {
        listener.cancel()
      }
    }
    throw CancellationError()
  }

  /// Makes a request. Returns false if the driver doesn't have it. A missing reply is an error, unless `mayBeSilent`.
  private static func has(_ mayBeSilent: Bool, _ request: () async throws -> Void) async throws -> Bool {
    do {
      try await request()
      return true
    } catch let error as AccessoryError where error.kind == .unsupported || error.kind == .timedOut && mayBeSilent {
      return error.kind == .timedOut
    }
  }

  func close() async { await opened.close() }

  /// The note that some requests don't exist and so make no traffic; nil if all exist.
  static func waitingNote(_ label: String, lacking lacks: [String]) -> String? {
    guard let last = lacks.last else { return nil }
    let first = lacks.dropLast().joined(separator: ", ")
    return
      "\(SafeText.escape(label)) can't be asked for its \(first.isEmpty ? last : "\(first) or \(last)"): waiting for what "
      + "it sends by itself"
  }

  /// The note of a trace that has opened a device and sends nothing.
  static func watchingNote(_ opener: DeviceOpener) -> String {
    let label = SafeText.escape(opener.label)
    let start = "only listening: waiting for what \(label) sends by itself"
    guard opener.driver != nil else {
      return "\(start); \(SafeText.escape(opener.withoutDriver.message, limit: 1_000))"
    }
    return "\(start). --ask asks it for its identity, status and battery. Other programs can't open it now; if "
      + "bridge-cli serve has it open, a trace and other commands can use it at the same time"
  }
}
