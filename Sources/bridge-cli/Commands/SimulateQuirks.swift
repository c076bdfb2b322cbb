// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import ArgumentParser
import CommandOutput

/// Options that simulate the quirks of real accessories: sleep, echoes, late answers.
struct QuirkOptions: ParsableArguments {
  @Option(help: .rare("number", "The accessory sleeps: this many requests are lost before it is awake."))
  var sleep: Int?
  @Option(help: .rare("time", "Sleep again after this time without a request."), transform: TimeArgument.read)
  var sleepAfter: TimeArgument?
  @Flag(help: .rare("While it sleeps, send each request back unchanged.")) var sleepEcho = false
  @Flag(help: .rare("Everything sent to it comes back first, as with some RS-485 adapters.")) var echo = false
  @Option(help: .rare("number", "Send each message in this many pieces, 1 to 64.")) var pieces = 1
  @Option(help: .rare("time", "Time between two pieces; default: 30ms."), transform: TimeArgument.read)
  var pieceGap: TimeArgument?
  @Option(
    help: .rare(
      "message|hex",
      "Send this unrequested before each message: a message of the description by its name, or hexadecimal bytes."))
  var push: [String] = []
  @Flag(help: .rare("Send the bytes of --push in the middle of each message instead.")) var pushAmid = false
  @Flag(help: .rare("Leave out the first half of the first message.")) var cutFirst = false
  @Option(
    help: .rare(
      "request[=message]",
      "Refuse this request, with this message if the protocol has several refusals; can be repeated."))
  var refuse: [String] = []
  @Option(help: .rare("request", "Don't reply to this request; can be repeated.")) var unanswered: [String] = []
  @Option(help: .rare("number", "Refuse this many requests at first, as if half a command were in its buffer."))
  var refuseFirst = 0
  @Flag(
    help: .rare("Send like an older accessory: leave out the fields that the description has as optional or in a tail.")
  )
  var old = false
  @Option(help: .rare("message=hex", "Send like a newer accessory: add these bytes to the end of a message."))
  var surplus: [String] = []
  @Option(
    help: .rare("time", "Lose requests that come less than this time after a message."), transform: TimeArgument.read)
  var deaf: TimeArgument?
  @Option(help: .rare("time", "After a request send nothing unrequested for this time."), transform: TimeArgument.read)
  var quiet: TimeArgument?

  func validate() throws {
    guard (0...1_000).contains(sleep ?? 0) else { throw ValidationError("--sleep must be 0 to 1000 requests") }
    guard (0...1_000).contains(refuseFirst) else { throw ValidationError("--refuse-first must be 0 to 1000 requests") }
    guard (1...64).contains(pieces) else { throw ValidationError("--pieces must be 1 to 64") }
    if sleep == nil, sleepEcho || sleepAfter != nil {
      throw ValidationError("--sleep is missing: the number of requests that are lost, like --sleep 2")
    }
    if pushAmid, push.isEmpty { throw ValidationError("--push-amid needs --push, which names the bytes to send") }
    if pieceGap != nil, pieces == 1 { throw ValidationError("--piece-gap needs --pieces, like --pieces 3") }
  }

  /// The quirks that these options set, for an accessory of this description.
  func quirks(of description: ProtocolDescription) throws -> DescribedQuirks {
    var quirks = DescribedQuirks()
    quirks.lostAsleep = sleep ?? 0
    quirks.sleepsAfter = sleepAfter?.duration
    quirks.isEchoingAsleep = sleepEcho
    quirks.isEchoing = echo
    quirks.pieces = pieces
    if let pieceGap { quirks.pieceGap = pieceGap.duration }
    quirks.pushes = try push.map { try Self.push($0, of: description) }
    quirks.pushesAmid = pushAmid
    quirks.cutsFirst = cutFirst
    quirks.refusedAtFirst = refuseFirst
    for word in refuse {
      let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
      let message = parts.count == 2 ? try Self.refusal(parts[1], of: description) : nil
      quirks.refused[try Self.request(parts.first ?? "", of: description)] = .some(message)
    }
    quirks.unanswered = Set(try unanswered.map { try Self.request($0, of: description) })
    quirks.isOld = old
    for word in surplus {
      let (message, bytes) = try Self.surplus(word, of: description)
      quirks.surplus[message] = bytes
    }
    quirks.deafTime = deaf?.duration ?? .zero
    quirks.quietTime = quiet?.duration ?? .zero
    return quirks
  }

  private static func push(_ word: String, of description: ProtocolDescription) throws -> DescribedQuirks.Push {
    if let place = message(word, of: description) { return .message(place) }
    guard let bytes = HexArgument(argument: word)?.bytes, bytes.count <= 1_024 else {
      throw UsageError(
        "\(description.name) has no message \(SafeText.escape(word)), and it isn't hexadecimal; its messages are "
          + description.messages.map(\.name).joined(separator: ", "))
    }
    return .bytes(bytes)
  }

  private static func surplus(
    _ word: String, of description: ProtocolDescription
  ) throws -> (message: Int, bytes: [UInt8]) {
    let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
    guard parts.count == 2, let bytes = HexArgument(argument: parts[1])?.bytes, bytes.count <= 256 else {
      throw UsageError("--surplus must be a message and up to 256 bytes, like basic=00FF, not \(SafeText.escape(word))")
    }
    guard let place = message(parts[0], of: description) else {
      throw UsageError(
        "\(description.name) has no message \(SafeText.escape(parts[0])); its messages are "
          + description.messages.map(\.name).joined(separator: ", "))
    }
    return (place, bytes)
  }

  private static func refusal(_ word: String, of description: ProtocolDescription) throws -> Int {
    if let place = message(word, of: description), description.messages[place].isRefusal { return place }
    let refusals = description.messages.filter(\.isRefusal).map(\.name)
    throw UsageError(
      "\(description.name) has no refusal \(SafeText.escape(word)); its refusals are "
        + (refusals.isEmpty ? "none" : refusals.joined(separator: ", ")))
  }

  private static func message(_ word: String, of description: ProtocolDescription) -> Int? {
    description.messages.firstIndex { $0.name == word }
  }

  private static func request(_ word: String, of description: ProtocolDescription) throws -> Int {
    guard let place = description.request(named: word) else {
      throw UsageError(
        "\(description.name) has no request \(SafeText.escape(word)); its requests are "
          + description.requests.map(\.name).joined(separator: ", "))
    }
    return place
  }
}
