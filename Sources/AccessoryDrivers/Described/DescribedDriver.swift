// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryLink
import AccessoryProtocols

extension Driver {
  /// The driver of accessories whose protocol a file describes, under the protocol's name.
  public init(_ description: ProtocolDescription) {
    self.init(
      name: description.name, summary: description.summary, commands: description.commands,
      polls: description.accessoryPolls,
      freshness: description.messages.contains(where: \.isPushed)
        ? .nanoseconds(description.plan.expiry ?? 10_000_000_000) : nil,
      hasWrites: description.hasWrites, lacks: description.lacks, units: LineUnits(description),
      preview: { calls, unit throws(AccessoryError) in try description.preview(of: calls, unit: unit) },
      frames: {
        (DescribedFrameReader(description) as (any FrameReader)?) ?? DescribedFrameReader.none(description.name)
      }
    ) { session, profile, clock throws(AccessoryError) in
      try await DescribedAccessory.open(session, description, clock: clock)
    }
  }
}

extension LineUnits {
  /// The units of a described protocol; nil where it has none.
  fileprivate init?(_ description: ProtocolDescription) {
    guard let units = description.units else { return nil }
    self.init(units.range, scan: units.scan) { session, profile, isShared, clock throws(AccessoryError) in
      try await DescribedLine.open(session, description, isShared: isShared, clock: clock)
    }
  }
}

extension DescribedAccessory {
  /// Carries out requests of the description, one after another. Throws `permissionDenied` for one that changes something
  /// in the accessory unless the call is permitted, and then nothing is sent.
  public func perform(_ calls: [CommandCall], isAnswered: Bool) async throws(AccessoryError) -> [CommandReply] {
    let requests = try description.requests(of: calls)
    for call in calls where call.command.isWrite || description.isWrite(call.command.name) {
      guard !call.isPermitted else { continue }
      throw AccessoryError(
        .permissionDenied, "\(call.command.name) changes something in \(label), and writes to it aren't allowed")
    }
    var replies: [CommandReply] = []
    for (call, request) in zip(calls, requests) {
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
  /// Whether something can be sent that changes the accessory. What speaks Modbus can be written to, whatever is described
  /// of it.
  fileprivate var hasWrites: Bool {
    modbus != nil || requests.contains(where: \.isWrite) || examples.contains(where: \.isWrite)
  }

  /// Whether the request of this name changes something in the accessory.
  fileprivate func isWrite(_ name: String) -> Bool { request(named: name).map { requests[$0].isWrite } ?? false }

  /// The requests of these calls, by their places, with raw numbers as their arguments. Throws `unsupported`.
  fileprivate func requests(
    of calls: [CommandCall]
  ) throws(AccessoryError) -> [(index: Int, arguments: [String: Int])] {
    var found: [(index: Int, arguments: [String: Int])] = []
    for call in calls {
      guard let index = request(named: call.command.name) else {
        throw AccessoryError(.unsupported, "\(name) accessories have no command \(call.command.name)")
      }
      let arguments = requests[index].arguments
      found.append((index, Dictionary(uniqueKeysWithValues: arguments.map { ($0.name, $0.raw(call)) })))
    }
    return found
  }

  /// The bytes of these calls, a frame each. Throws `misconfigured` where there is no such frame.
  fileprivate func preview(of calls: [CommandCall], unit: Int?) throws(AccessoryError) -> [[UInt8]] {
    let writer = RequestWriter(try DescribedExchange(self, label: name).codec)
    var frames: [[UInt8]] = []
    for (call, request) in zip(calls, try requests(of: calls)) {
      do throws(FrameEncodingError) {
        frames.append(try writer.bytes(request.index, request.arguments, unit: unit).bytes)
      } catch {
        throw AccessoryError(.misconfigured, "\(call.command.name) can't be sent like this: \(error)")
      }
    }
    return frames
  }
}
