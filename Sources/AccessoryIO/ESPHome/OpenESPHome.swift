// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import ESPHomeAPI

extension ESPHomeTransport {
  /// How long the node may take to give the port.
  private static let openLimit = Duration.seconds(10)

  /// Connects to a node, takes one of its serial ports, and sets its line as `configuration` says. `configuration.path` is ignored, and so
  /// are the settings for RS-485 and low latency, which are the node's own. With a `keyFile` the connection is encrypted: its first line
  /// is the node's key in base64.
  ///
  /// Throws `notFound`, `disconnected` or `timedOut` when connecting fails, or the node has no such port; `busy` when another client has it;
  /// `misconfigured` when the key is missing or wrong, and for settings that no line has; `badData` when something else answers;
  /// `unsupported` when the line can't have the settings; and `cancelled` when the task is cancelled.
  public static func open(
    _ address: ESPHomeAddress, _ configuration: TerminalConfiguration, keyFile: String? = nil, io: IOThread = .shared
  ) async throws(AccessoryError) -> ESPHomeTransport {
    try configuration.check()
    let label = configuration.label
    var key: [UInt8]?
    if let keyFile {
      key = try await SetupQueue(label: label).run { () throws(AccessoryError) in try read(keyFile, for: label) }
    }
    let base = try await DescriptorTransport.open(address.node, label: label, io: io)
    let conversation = SerialProxyClient(label: label, port: address.port, key: key, client: "Accessory Bridge")
    let transport = ESPHomeTransport(base, conversation, label: label, io: io, clock: io)
    return try await attempt { () throws(AccessoryError) in
      try await transport.take(within: openLimit, clock: io)
      try await transport.line?.apply(configuration)
      if configuration.settle > .zero { await io.sleep(for: configuration.settle) }
      if Task.isCancelled { throw AccessoryError(.cancelled, "opening \(label) was cancelled") }
      await transport.takeBytes()
      return transport
    } onFailure: { _ in
      await transport.close()
    }
  }

  private static func read(_ path: String, for label: String) throws(AccessoryError) -> [UInt8] {
    try Sodium.load()
    guard let key = NativeKey.bytes(try SecretFile.password(path, "key")) else {
      // It isn't shown: most of it may be right.
      throw AccessoryError(
        .misconfigured,
        "the first line of \(SafeText.escape(path)) isn't the key of \(label): it must be 44 characters of base64, as in the node's "
          + "configuration (api: encryption: key)")
    }
    return key
  }

  package func take(within limit: Duration, clock: any TimerClock) async throws(AccessoryError) {
    let label = label
    let answer = OneShot<AccessoryError?>()
    let timer = clock.schedule(at: clock.now + limit) { [weak self] in
      guard let self else { return }
      io.post { _ = self.enter { answer.finish($0.lateness) } }
    }
    take { answer.finish($0) }
    let error = await answer.value(whenCancelled: .closed(label))
    clock.cancel(timer)
    if let error { throw error }
  }
}
