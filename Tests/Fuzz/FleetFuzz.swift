// SPDX-License-Identifier: Apache-2.0

// A target for libFuzzer: what comes from an MQTT broker. The first line is a topic, the rest a message; each is read as
// everything that it may be. What is read must be written so that it can be read again.

/// Called by libFuzzer with each input.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOne(_ data: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = Array(UnsafeBufferPointer(start: data, count: count))
  let line = bytes.prefix { $0 != UInt8(ascii: "\n") }
  topic(String(decoding: line, as: UTF8.self))
  message(Array(bytes.dropFirst(line.count + 1)))
  return 0
}

private func topic(_ text: String) {
  guard let gateway = TopicLevel(level: "attic") else { preconditionFailure("a level") }
  _ = DiscoveryTopic.accessory(text, "homeassistant", gateway)
  guard let topic = FleetTopic(text) else { return }
  precondition(text.utf8.count <= FleetTopic.longest && !text.contains("+") && !text.contains("#"))
  let topics: String
  switch topic {
  case .gateway(let gateway, let part):
    topics = part == .info ? FleetTopics(gateway).info : FleetTopics(gateway).availability
  case .accessory(let gateway, let level, let part):
    let all = FleetTopics(gateway)
    switch part {
    case .availability: topics = all.availability(of: level)
    case .state: topics = all.state(of: level)
    case .values: topics = all.values(of: level)
    case .event: topics = all.event(of: level)
    }
  case .command(let gateway, let level, let name, let part):
    let all = FleetTopics(gateway)
    topics = part == .set ? all.set(name, of: level) : all.result(name, of: level)
  }
  precondition(topics == text, "a topic that is read is written as it was")
}

private func message(_ bytes: [UInt8]) {
  _ = DiscoveryTopic.components(bytes)
  _ = FleetCall.id(of: bytes)
  if let state = try? FleetState(bytes) { _ = state.bytes }
  if let values = try? FleetValues(bytes) { _ = values.values(now: 1_790_000_000) }
  if let event = try? FleetEvent(bytes) { _ = event.bytes }
  if let info = try? GatewayInfo(bytes) { precondition(!info.gateway.text.isEmpty) }
  if let result = try? FleetResult(bytes) { _ = result.bytes }
}
