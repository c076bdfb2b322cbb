// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import AccessoryLink
import CommandOutput

/// Records the traffic of a bridge in a file, from the first opening of the accessory on. The recording continues when
/// the accessory is unplugged and plugged in again.
actor BridgeRecorder {
  private let path: String
  private let view: BridgeView
  private let start = MonotonicTime.now
  private let began = WallClock.seconds
  private var file: RecordingFile?
  /// The taps of the open transport, and of the one that is being opened.
  private var (tap, next): (TraceTap?, TraceTap?)
  private var writing: Task<Void, Never>?
  private var failure: AccessoryError?

  /// Creates a recorder that appends to the file at `path`. If writing fails, it prints the error once and stops
  /// recording; the bridge continues.
  init(_ path: String, _ view: BridgeView) { (self.path, self.view) = (path, view) }

  /// Returns the tap for a transport that is being opened. Ends the tap of the previous transport.
  func nextTap() async -> TraceTap {
    await unplugged()
    let tap = TraceTap(since: start)
    next = tap
    return tap
  }

  /// Starts to record, after the transport was opened. `driver` is the name of the driver whose frames are exchanged; nil
  /// when there is none.
  func opened(silence: Duration, driver: String?) {
    guard let tap = next, failure == nil else { return }
    next = nil
    do throws(AccessoryError) {
      if let file {
        try file.plugged(MonotonicTime.now - start)
      } else {
        file = try RecordingFile(
          appendingTo: path, silence: silence, framing: TraceFraming(driver: driver), began: began)
      }
    } catch {
      return fail(error)
    }
    guard let file else { return }
    self.tap = tap
    writing = Task {
      do throws(AccessoryError) {
        for await record in tap.records { try file.append(record) }
      } catch {
        fail(error)
      }
    }
  }

  /// Records that the accessory was unplugged.
  func unplugged() async {
    guard let tap else { return }
    self.tap = nil
    let time = MonotonicTime.now - start
    tap.finish()
    // Waits until all earlier traffic is written, so that the file keeps the order.
    await writing?.value
    do throws(AccessoryError) { try file?.unplugged(time) } catch { fail(error) }
  }

  /// Writes the remaining records and closes the file. Throws the first error of the recording.
  func close() async throws(RecordingFailure) {
    tap?.finish()
    tap = nil
    await writing?.value
    do throws(AccessoryError) { try file?.close() } catch { fail(error) }
    file = nil
    if let failure { throw RecordingFailure(error: failure) }
  }

  private func fail(_ error: AccessoryError) {
    guard failure == nil else { return }
    failure = error
    file = nil
    view.trouble(error)
  }
}
