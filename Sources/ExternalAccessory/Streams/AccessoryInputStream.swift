// SPDX-License-Identifier: Apache-2.0

import Foundation

/// The input stream of a session, a subclass of Foundation's `InputStream`.
///
/// All members may be used from any thread. Nothing of the base class's implementation is used.
final class AccessoryInputStream: InputStream, StreamDelegate {
  private let core: InputCore

  init(_ core: InputCore, onClose: @escaping @Sendable () -> Void) {
    self.core = core
    super.init(data: Data())
    core.notifier.attach(self, onClose: onClose)
  }

  deinit { core.notifier.close() }

  override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
    core.read(into: buffer, limit: length)
  }

  override func getBuffer(
    _ buffer: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>, length: UnsafeMutablePointer<Int>
  ) -> Bool { false }

  override var hasBytesAvailable: Bool { core.hasBytesAvailable }

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
