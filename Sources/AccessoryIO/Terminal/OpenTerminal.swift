// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension DescriptorTransport {
  /// Opens a terminal on a setup queue and passes it to `io`. Returns after the configuration's `settle` time.
  ///
  /// Throws `notFound`, `permissionDenied` (naming the group to join), `busy` (naming the process that has it open),
  /// `misconfigured` for settings that no line has (0 baud, 11 data bits, 3 stop bits), `unsupported` when the path
  /// isn't a terminal or the hardware can't have these settings, `disconnected` when the device goes away meanwhile,
  /// and `cancelled` when the task is cancelled meanwhile.
  public static func open(
    _ configuration: TerminalConfiguration, io: IOThread = .shared
  ) async throws(AccessoryError) -> DescriptorTransport {
    try await open(configuration, io: io, clock: io)
  }

  /// Like `open(_:io:)`, with the clock for the `settle` time.
  package static func open(
    _ configuration: TerminalConfiguration, io: IOThread = .shared, clock: any TimerClock
  ) async throws(AccessoryError) -> DescriptorTransport {
    try configuration.check()
    let setup = SetupQueue(label: configuration.path)
    let terminal = try await setup.run { () throws(AccessoryError) in try Terminal(configuration) }
    let control = TerminalControl(terminal, label: configuration.label, setup: setup)
    if configuration.settle > .zero {
      await clock.sleep(for: configuration.settle)
      await setup.run { terminal.discardInput() }
    }
    if Task.isCancelled {
      await setup.run { control.release(nil) }
      throw AccessoryError(.cancelled, "opening \(configuration.label) was cancelled")
    }
    return DescriptorTransport(
      descriptor: terminal.descriptor, label: configuration.label, timing: control.timing, io: io, setup: setup,
      line: control, closing: .inOrder(unsent: { terminal.unsentCount }, hasLine: terminal.hasLine), clock: clock,
      release: { control.release($0) })
  }
}
