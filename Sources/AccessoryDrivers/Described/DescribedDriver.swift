// SPDX-License-Identifier: Apache-2.0

import AccessoryBluetooth
import AccessoryCore
import AccessoryDescriptions
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// The driver of a described protocol. It has the protocol's name.
  public init(_ description: ProtocolDescription) {
    self.init(
      name: description.name, summary: description.summary, commands: description.commands,
      polls: description.accessoryPolls,
      freshness: description.messages.contains(where: \.isPushed)
        ? .nanoseconds(description.plan.expiry ?? 10_000_000_000) : nil,
      rawBytes: description.decidedRawBytes, lacks: description.lacks, units: LineUnits(description),
      preview: { calls, unit throws(AccessoryError) in try description.preview(of: calls, unit: unit) },
      frames: {
        (DescribedFrameReader(description) as (any FrameReader)?) ?? DescribedFrameReader.none(description.name)
      }, routing: description.router
    ) { session, profile, clock throws(AccessoryError) in
      try await DescribedAccessory.open(session, description, clock: clock)
    }
    gatt = description.bluetooth?.gatt ?? GATTSettings()
    advertisement = description.advertisement
    let pushed = zip(description.messages, description.partsOfMessages).filter(\.0.isPushed)
    repeatedParts = pushed.reduce(into: []) { $0.formUnion($1.1) }
    isUPS = description.name(ofRole: Vocabulary.onBattery.role.rawValue) != nil
  }
}

extension ProtocolDescription {
  /// The name of the value with this role; nil where there is none.
  package func name(ofRole role: String) -> String? {
    messages.lazy.flatMap(\.fields).first { $0.role == role }?.name ?? derived.first { $0.role == role }?.name
  }

  /// For each message, the parts of the accessory's state that it reports, directly or by derivation.
  var partsOfMessages: [Set<AccessoryPoll.Part>] {
    let wanted: [(AccessoryPoll.Part, (String) -> Bool)] = [
      (.status, DescribedPart.isStatus), (.battery, DescribedPart.isBattery), (.values, DescribedPart.isValue),
    ]
    let parts = wanted.map { part, isWanted in (part: part, names: sources(of: isWanted)) }
    return messages.map { message in
      Set(parts.filter { part in message.fields.contains { part.names.contains($0.name) } }.map(\.part))
    }
  }
}

extension LineUnits {
  /// The units of a described protocol; nil when it has none.
  fileprivate init?(_ description: ProtocolDescription) {
    guard let units = description.units else { return nil }
    self.init(units.range, scan: units.scan) { session, profile, isShared, clock throws(AccessoryError) in
      try await DescribedLine.open(session, description, isShared: isShared, clock: clock)
    }
  }
}

extension DescribedAccessory {
  /// The requests of the description.
  public func commands() -> [CommandDescription] { description.commands }

  /// Carries out requests of the description, one after another. Throws `permissionDenied` before anything is sent when
  /// a request changes something in the accessory and its call isn't permitted.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    let requests = try description.requests(of: calls)
    for call in calls where call.command.isWrite || description.isWrite(call.command.name) {
      guard !call.isPermitted else { continue }
      throw AccessoryError(
        .permissionDenied,
        "\(call.command.name) changes something in \(label), and this call isn't permitted, so nothing was sent: open the "
          + "accessory with writes: true, or send call.permitted()")
    }
    var replies: [CommandReply] = []
    for (call, request) in zip(calls, requests) {
      if !call.command.isWrite { try await learnWhatTells(request.index) }
      let reply = try await ask(request.index, request.arguments)
      let values = description.results(of: description.requests[request.index]).map {
        reply?[$0.name]?.value ?? .nothing
      }
      replies.append(CommandReply(call.command, values))
    }
    return replies
  }
}

extension ProtocolDescription {
  /// Makes the routing of this protocol's frames; nil if some requests are bytes without a frame.
  fileprivate var router: Driver.Router? {
    if requests.contains(where: { if case .bytes = $0.sends { true } else { false } }) { return nil }
    return { transport, _, allowsWrites throws(AccessoryError) in
      try .described(self, label: transport.label, wire: self.wire(of: transport), allowsWrites: allowsWrites)
    }
  }

  /// What raw bytes can do. A description without `raw` may still show that they aren't harmless: it marks writes, or
  /// it is for Modbus, whose registers can be written whether they are described or not.
  fileprivate var decidedRawBytes: RawBytes {
    rawBytes == .undecided && (modbus != nil || marksWrites) ? .guarded : rawBytes
  }

  /// Whether the request with this name changes something in the accessory.
  fileprivate func isWrite(_ name: String) -> Bool { request(named: name).map { requests[$0].isWrite } ?? false }

  /// The requests of these calls, as indices with raw numbers as arguments. Throws `unsupported` for an unknown command.
  fileprivate func requests(
    of calls: [CommandCall]
  ) throws(AccessoryError) -> [(index: Int, arguments: [String: Int])] {
    var found: [(index: Int, arguments: [String: Int])] = []
    for call in calls {
      guard let index = request(named: call.command.name) else {
        throw AccessoryError(.unsupported, "the protocol \(name) has no command \(call.command.name)")
      }
      let arguments = requests[index].arguments
      found.append((index, Dictionary(uniqueKeysWithValues: arguments.map { ($0.name, $0.raw(call)) })))
    }
    return found
  }

  /// The frames that these calls send, one for each call. Throws `misconfigured` when one can't be encoded.
  fileprivate func preview(of calls: [CommandCall], unit: Int?) throws(AccessoryError) -> [[UInt8]] {
    let writer = RequestEncoder(try DescribedExchange(self, label: name).codec)
    var frames: [[UInt8]] = []
    for (call, request) in zip(calls, try requests(of: calls)) {
      do throws(FrameEncodingError) {
        frames.append(try writer.bytes(request.index, request.arguments, unit: unit).bytes)
      } catch {
        throw AccessoryError(.misconfigured, "\(call.command.name) can't be sent: \(error)")
      }
    }
    return frames
  }
}
