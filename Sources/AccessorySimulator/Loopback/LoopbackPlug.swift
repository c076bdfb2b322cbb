// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO

/// A simulated device in this process that sends back every byte, on a line whose outputs are connected to its inputs.
public actor LoopbackPlug: Transport, IOActor {
  /// The device's name in messages.
  public nonisolated let label: String
  /// The bytes that the device sends back.
  public nonisolated let input = InputQueue()
  /// The bytes for the device.
  public nonisolated let output = OutputQueue(highWater: 65_536)
  /// Bytes take no time.
  public nonisolated var timing: LineTiming { .instant }
  /// The serial line's settings and modem lines.
  public nonisolated var line: (any LineControl)? { loop }
  /// The same line as its own type, whose `edges` report the changes.
  public nonisolated let loop: LoopbackLine

  package nonisolated let io: IOThread
  private var buffer: [UInt8] = []
  private var isPaused = false
  private var isOver = false

  /// The I/O thread.
  public nonisolated var unownedExecutor: UnownedSerialExecutor { io.asUnownedSerialExecutor() }

  /// Creates a device whose transport is open.
  public init(label: String = "loopback", io: IOThread = .shared) {
    (self.label, self.io) = (label, io)
    loop = LoopbackLine(label: label, clock: io)
    connect()
  }

  private nonisolated func connect() {
    output.onQueued { [self] in io.post { self.enter { $0.pump() } } }
    input.onResume { [self] in
      io.post {
        self.enter {
          $0.isPaused = false
          $0.pump()
        }
      }
    }
  }

  private func pump() {
    while !isPaused, !isOver, output.take(into: &buffer) {
      isPaused = !input.append(buffer.span.bytes)
      output.wrote(buffer.count)
    }
  }

  private func end(_ error: AccessoryError?) {
    guard !isOver else { return }
    isOver = true
    loop.end(error ?? .closed(label))
    output.close(error)
    input.finish(error)
  }

  /// Closes the transport. Later calls of `line` throw `cancelled`.
  public func close() async { end(nil) }

  /// Closes the transport without waiting.
  public nonisolated func beginClose() { io.post { self.enter { $0.end(nil) } } }

  /// Ends the transport with the error `disconnected`.
  public nonisolated func deviceWasRemoved() { io.post { self.enter { $0.end(.disconnected(self.label)) } } }
}
