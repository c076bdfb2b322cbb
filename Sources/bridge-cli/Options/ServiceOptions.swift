// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDrivers
import ArgumentParser
import BridgeService
import Logging

/// How a service behaves.
struct ServiceOptions: ParsableArguments {
  @Option(help: ArgumentHelp("Answer on a socket at this path.", valueName: "path"), completion: .file())
  var socket: String?
  @Option(
    help: ArgumentHelp(
      "Ask each accessory for its readings so long after each answer, or, with off, only when a client asks; else as its "
        + "profile says.", valueName: "time"), transform: PollArgument.read)
  var poll: PollArgument?
  @Option(
    help: ArgumentHelp(
      "After an accessory went away, try so often: a number, forever or off; else as its profile says, or 3.",
      valueName: "tries"), transform: TriesArgument.read)
  var reconnectTries: TriesArgument?
  @Option(
    help: ArgumentHelp("The pause before a try; else as the profile says, or 1s.", valueName: "time"),
    transform: TimeArgument.read)
  var reconnectInterval: TimeArgument?
  @Option(
    help: ArgumentHelp(
      "What each pause is multiplied by, 1 to 10; else as the profile says, or 1.", valueName: "number"),
    transform: BackoffArgument.read)
  var reconnectBackoff: BackoffArgument?
  @Option(
    help: ArgumentHelp(
      "After making contact failed, try so often: a number, forever or off; else as the profile says, or 3.",
      valueName: "tries"), transform: TriesArgument.read)
  var retryTries: TriesArgument?
  @Option(
    help: ArgumentHelp("The pause before a try; else as the profile says, or 1s.", valueName: "time"),
    transform: TimeArgument.read)
  var retryInterval: TimeArgument?
  @Option(
    help: ArgumentHelp(
      "What each pause is multiplied by, 1 to 10; else as the profile says, or 1.", valueName: "number"),
    transform: BackoffArgument.read)
  var retryBackoff: BackoffArgument?
  @Option(help: ArgumentHelp("How much to say: debug, info, notice, warning or error.", valueName: "level"))
  var logLevel = Logger.Level.info

  func validate() throws {
    if let time = poll?.interval.duration, time < .milliseconds(100) {
      throw ValidationError("--poll is at least 100ms, or off")
    }
    for interval in [reconnectInterval, retryInterval].compactMap({ $0 }) where interval.duration < .milliseconds(1) {
      throw ValidationError("a pause is at least 1ms")
    }
  }

  var serviceConfiguration: ServiceConfiguration {
    var configuration = ServiceConfiguration(
      information: ServiceInformation(
        vendor: "Accessory Bridge", product: "bridge-cli", version: BridgeCLI.version, url: "https://example.org/"))
    configuration.poll = poll?.interval
    configuration.reconnect = .init(
      tries: reconnectTries?.tries, interval: reconnectInterval?.duration,
      backoffThousandths: reconnectBackoff?.thousandths)
    configuration.retry = .init(
      tries: retryTries?.tries, interval: retryInterval?.duration, backoffThousandths: retryBackoff?.thousandths)
    return configuration
  }
}

/// How often to poll, on the command line: "60", "1m", "off".
struct PollArgument: FormArgument {
  static let form = "off, or a time, in seconds or with its unit, like 5 or 500ms,"
  let interval: PollPolicy.Interval

  init?(argument: String) {
    if argument == "off" {
      interval = .off
    } else {
      guard let time = SecondsArgument(argument: argument) else { return nil }
      interval = .every(time.duration)
    }
  }
}

/// How often to try, on the command line: "5", "forever", "off".
struct TriesArgument: FormArgument {
  static let form = "a number from 1 to 1000000, forever or off"
  let tries: ServiceConfiguration.RetryChange.Tries

  init?(argument: String) {
    switch argument {
    case "forever": tries = .forever
    case "off": tries = .off
    default:
      guard let count = Int(argument), (1...1_000_000).contains(count) else { return nil }
      tries = .count(count)
    }
  }
}

/// A factor on the command line: "1", "1.5", "2".
struct BackoffArgument: FormArgument {
  static let form = "a number from 1 to 10"
  let thousandths: Int

  init?(argument: String) {
    guard let factor = Double(argument), (1...10).contains(factor) else { return nil }
    thousandths = Int((factor * 1_000).rounded())
  }
}
