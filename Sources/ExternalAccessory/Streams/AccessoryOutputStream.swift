// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Foundation

/// The output stream of a session, as Foundation's classes want it.
///
/// All members may be used from any thread; the base class is not used at all.
final class AccessoryOutputStream: OutputStream, StreamDelegate {
  private let core: OutputCore

  init(_ core: OutputCore, onClose: @escaping @Sendable () -> Void) {
    self.core = core
    super.init(toMemory: ())
    core.notifier.attach(self, onClose: onClose)
  }

  /// Foundation's way to make a stream into memory, which this is not: it takes nothing.
  required init(toMemory: ()) {
    core = OutputCore(OutputQueue(highWater: 0))
    super.init(toMemory: ())
  }

  deinit { core.notifier.close() }

  override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
    core.write(UnsafeBufferPointer(start: buffer, count: max(0, length)))
  }

  override var hasSpaceAvailable: Bool { core.hasSpaceAvailable }

  // MARK: - As every stream

  override weak var delegate: (any StreamDelegate)? {
    get { core.notifier.delegate ?? self }
    set { core.notifier.delegate = newValue === self ? nil : newValue }
  }

  /// A stream is its own delegate until it has another. It has nothing to tell itself: events wait for the other.
  func stream(_ stream: Stream, handle event: Stream.Event) {}

  override func open() { core.notifier.open() }

  override func close() { core.notifier.close() }

  override func schedule(in runLoop: RunLoop, forMode mode: RunLoop.Mode) {
    core.notifier.schedule(in: runLoop, forMode: mode)
  }

  override func remove(from runLoop: RunLoop, forMode mode: RunLoop.Mode) {
    core.notifier.remove(from: runLoop, forMode: mode)
  }

  override var streamStatus: Stream.Status { core.notifier.status }

  override var streamError: (any Error)? { core.notifier.end?.error.map { NSError($0) } }

  override func property(forKey key: Stream.PropertyKey) -> AnyObject? { nil }

  override func setProperty(_ property: AnyObject?, forKey key: Stream.PropertyKey) -> Bool { false }
}
