// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryDrivers
import AccessoryIO
import ArgumentParser
import BridgeService
import CommandOutput
import Logging

/// Options of a service.
struct ServiceOptions: ParsableArguments {
  @Option(help: .rare("path", "The path of the socket that the service listens on."), completion: .file())
  var socket: String?
  @Option(
    help: .rare("path", "The path of the read-only socket, or none; default: readings.socket beside bridge.socket."),
    completion: .file())
  var readingsSocket: String?
  @Option(
    help: .value(
      "file",
      "The service's configuration; default: service.yaml in ~/.config/accessory-bridge or /etc/accessory-bridge."),
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?
  @Option(
    help: .value("time", "The time between readings; off: only when asked; default: the profile's."),
    transform: PollArgument.read)
  var poll: PollArgument?
  @Option(
    help: .rare(
      "tries", "How often to try again after a disconnect: a number, forever or off; default: the profile's, or 3."),
    transform: TriesArgument.read)
  var reconnectTries: TriesArgument?
  @Option(
    help: .rare("time", "The pause before each try; default: the profile's, or 1s."), transform: TimeArgument.read)
  var reconnectInterval: TimeArgument?
  @Option(
    help: .rare("number", "The factor from each pause to the next, 1 to 10; default: the profile's, or 1."),
    transform: BackoffArgument.read)
  var reconnectBackoff: BackoffArgument?
  @Option(
    help: .rare(
      "tries", "How often to try again if opening fails: a number, forever or off; default: the profile's, or 3."),
    transform: TriesArgument.read)
  var retryTries: TriesArgument?
  @Option(
    help: .rare("time", "The pause before each try; default: the profile's, or 1s."), transform: TimeArgument.read)
  var retryInterval: TimeArgument?
  @Option(
    help: .rare("number", "The factor from each pause to the next, 1 to 10; default: the profile's, or 1."),
    transform: BackoffArgument.read)
  var retryBackoff: BackoffArgument?
  @OptionGroup var alarms: AlarmOptions
  @Option(help: .rare("level", "How much to log: debug, info, notice, warning or error."))
  var logLevel = Logger.Level.info

  func validate() throws {
    if let time = poll?.interval.duration, time < .milliseconds(100) {
      throw ValidationError("--poll must be at least 100ms, or off")
    }
    for interval in [reconnectInterval, retryInterval].compactMap({ $0 }) where interval.duration < .milliseconds(1) {
      throw ValidationError("a pause must be at least 1ms")
    }
  }

  /// The path of the socket for readings of a service that answers at `place`; nil for no such socket. A default path that
  /// is too long for a socket counts as none.
  func readingsSocket(beside place: String) -> String? {
    if let readingsSocket { return readingsSocket == "none" ? nil : readingsSocket }
    return ServicePlace.ownReadings(beside: place).flatMap { $0.utf8.count <= UnixSocket.longestPath ? $0 : nil }
  }

  /// A configuration without any settings.
  static var standardConfiguration: ServiceConfiguration {
    ServiceConfiguration(
      information: ServiceInformation(
        vendor: "Accessory Bridge", product: "bridge-cli", version: BridgeCLI.version, url: "https://example.org/"))
  }

  var serviceConfiguration: ServiceConfiguration {
    var configuration = Self.standardConfiguration
    configuration.alarmRules.typed = alarms.rules
    configuration.poll = poll?.interval
    configuration.reconnect = .init(
      tries: reconnectTries?.tries, interval: reconnectInterval?.duration,
      backoffThousandths: reconnectBackoff?.thousandths)
    configuration.retry = .init(
      tries: retryTries?.tries, interval: retryInterval?.duration, backoffThousandths: retryBackoff?.thousandths)
    return configuration
  }
}

/// An interval for polling on the command line: "60", "1m", "off".
struct PollArgument: FormArgument {
  static let form = "off, or a time, in seconds or with its unit, like 5 or 500ms"
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

/// A number of tries on the command line: "5", "forever", "off".
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
