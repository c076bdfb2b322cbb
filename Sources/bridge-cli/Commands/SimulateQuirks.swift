// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryProtocols
import AccessorySimulator
import ArgumentParser
import CommandOutput

/// Options that simulate the quirks of real accessories: sleep, echoes, late answers.
struct QuirkOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The accessory sleeps: this many requests are lost before it is awake.", valueName: "number",
      visibility: HelpTopic.visibility))
  var sleep: Int?
  @Option(
    help: ArgumentHelp(
      "Sleep again after this time without a request.", valueName: "time", visibility: HelpTopic.visibility),
    transform: TimeArgument.read)
  var sleepAfter: TimeArgument?
  @Flag(help: ArgumentHelp("While it sleeps, send each request back unchanged.", visibility: HelpTopic.visibility))
  var sleepEcho = false
  @Flag(
    help: ArgumentHelp(
      "Everything sent to it comes back first, as with some RS-485 adapters.", visibility: HelpTopic.visibility))
  var echo = false
  @Option(
    help: ArgumentHelp(
      "Send each message in this many pieces, 1 to 64.", valueName: "number", visibility: HelpTopic.visibility))
  var pieces = 1
  @Option(
    help: ArgumentHelp("Time between two pieces; default: 30ms.", valueName: "time", visibility: HelpTopic.visibility),
    transform: TimeArgument.read)
  var pieceGap: TimeArgument?
  @Option(
    help: ArgumentHelp(
      "Send this unrequested before each message: a message of the description by its name, or hexadecimal bytes.",
      valueName: "message|hex", visibility: HelpTopic.visibility))
  var push: [String] = []
  @Flag(
    help: ArgumentHelp(
      "Send the bytes of --push in the middle of each message instead.", visibility: HelpTopic.visibility))
  var pushAmid = false
  @Flag(help: ArgumentHelp("Leave out the first half of the first message.", visibility: HelpTopic.visibility))
  var cutFirst = false
  @Option(
    help: ArgumentHelp(
      "Refuse this request, with this message if the protocol has several refusals; can be repeated.",
      valueName: "request[=message]", visibility: HelpTopic.visibility))
  var refuse: [String] = []
  @Option(
    help: ArgumentHelp(
      "Don't reply to this request; can be repeated.", valueName: "request", visibility: HelpTopic.visibility))
  var unanswered: [String] = []
  @Option(
    help: ArgumentHelp(
      "Refuse this many requests at first, as if half a command were in its buffer.", valueName: "number",
      visibility: HelpTopic.visibility))
  var refuseFirst = 0
  @Flag(
    help: ArgumentHelp(
      "Send like an older accessory: leave out the fields that the description has as optional or in a tail.",
      visibility: HelpTopic.visibility))
  var old = false
  @Option(
    help: ArgumentHelp(
      "Send like a newer accessory: add these bytes to the end of a message.",
      valueName: "message=hex", visibility: HelpTopic.visibility))
  var surplus: [String] = []
  @Option(
    help: ArgumentHelp(
      "Lose requests that come less than this time after a message.", valueName: "time",
      visibility: HelpTopic.visibility),
    transform: TimeArgument.read)
  var deaf: TimeArgument?
  @Option(
    help: ArgumentHelp(
      "After a request send nothing unrequested for this time.", valueName: "time", visibility: HelpTopic.visibility),
    transform: TimeArgument.read)
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
