// SPDX-License-Identifier: Apache-2.0

import AccessoryCore

extension RFC2217Transport {
  /// How long the server may take to agree to the COM port option.
  private static let agreementLimit = Duration.seconds(5)

  /// Connects to a serial port of another machine and sets its line as `configuration` says. `configuration.path` is
  /// ignored, and so are the settings for RS-485 and low latency, which RFC 2217 can't set.
  ///
  /// Throws `notFound`, `disconnected` or `timedOut` when connecting fails; `refused` or `timedOut` when the server
  /// doesn't speak RFC 2217; `unsupported` when the line can't have the settings; `misconfigured` for settings that no
  /// line has; and `cancelled` when the task is cancelled.
  public static func open(
    _ address: NetworkAddress, _ configuration: TerminalConfiguration, io: IOThread = .shared
  ) async throws(AccessoryError) -> RFC2217Transport {
    try configuration.check()
    let base = try await DescriptorTransport.open(address, label: configuration.label, io: io)
    let transport = RFC2217Transport(base, label: configuration.label, io: io, clock: io)
    return try await attempt { () throws(AccessoryError) in
      try await transport.negotiate(within: agreementLimit, clock: io)
      try await transport.line?.apply(configuration)
      if configuration.settle > .zero {
        await io.sleep(for: configuration.settle)
        try await transport.line?.purge(.received)
      }
      if Task.isCancelled { throw AccessoryError(.cancelled, "opening \(configuration.label) was cancelled") }
      return transport
    } onFailure: { _ in
      await transport.close()
    }
  }

  package func negotiate(within limit: Duration, clock: any TimerClock) async throws(AccessoryError) {
    let label = label
    let answer = OneShot<AccessoryError?>()
    let timer = clock.schedule(at: clock.now + limit) {
      answer.finish(
        AccessoryError(
          .timedOut,
          "\(label) doesn't answer as an RFC 2217 server: if it is a plain TCP port, write tcp: instead of rfc2217:"))
    }
    negotiate { answer.finish($0) }
    let error = await answer.value()
    clock.cancel(timer)
    if let error { throw error }
  }
}
