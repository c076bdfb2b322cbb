// SPDX-License-Identifier: Apache-2.0

import AccessoryIO
import Foundation

/// The output stream of a session, a subclass of Foundation's `OutputStream`.
///
/// All members may be used from any thread. Nothing of the base class's implementation is used.
final class AccessoryOutputStream: OutputStream, StreamDelegate {
  private let core: OutputCore

  init(_ core: OutputCore, onClose: @escaping @Sendable () -> Void) {
    self.core = core
    super.init(toMemory: ())
    core.notifier.attach(self, onClose: onClose)
  }

  /// Foundation's required initialiser for a stream into memory. Such a stream accepts no bytes.
  required init(toMemory: ()) {
    core = OutputCore(OutputQueue(highWater: 0))
    super.init(toMemory: ())
  }

  deinit { core.notifier.close() }

  override func write(_ buffer: UnsafePointer<UInt8>, maxLength length: Int) -> Int {
    core.write(UnsafeBufferPointer(start: buffer, count: max(0, length)))
  }

  override var hasSpaceAvailable: Bool { core.hasSpaceAvailable }

  // MARK: - Members of Stream

  override weak var delegate: (any StreamDelegate)? {
    get { core.notifier.delegate ?? self }
    set { core.notifier.delegate = newValue === self ? nil : newValue }
  }

  /// A stream is its own delegate until another is set. This implementation does nothing: events wait for the other
  /// delegate.
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
