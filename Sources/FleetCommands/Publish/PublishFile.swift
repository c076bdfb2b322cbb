// SPDX-License-Identifier: Apache-2.0

import AccessoryConfiguration
import AccessoryCore
import AccessoryFleet
import AccessoryIO
import ArgumentParser

/// A file with the options of `publish`: `broker: mqtts://attic@broker.example`, `password_file: …`.
enum PublishFile {
  private static let options: [(key: SettingsFile.Key, option: String)] = [
    (.init("broker", .text, problem: broker), "--broker"), (.init("password_file", .text), "--password-file"),
    (.init("ca", .text), "--ca"), (.init("certificate", .text), "--certificate"), (.init("key", .text), "--key"),
    (.init("mqtt_version", .text, problem: version), "--mqtt-version"),
    (.init("keepalive", .text, problem: keepalive), "--keepalive"),
    (.init("gateway", .text, problem: gateway), "--gateway"), (.init("discovery_prefix", .text), "--discovery-prefix"),
    (.init("no_retain", .flag), "--no-retain"), (.init("forget_after", .text, problem: period), "--forget-after"),
    (.init("socket", .text), "--socket"), (.init("log_level", .text, problem: level), "--log-level"),
  ]

  private static let broker: @Sendable (String) -> String? = { PublisherText.problem(broker: $0) }
  private static let version: @Sendable (String) -> String? = { MQTTVersion(rawValue: $0) == nil ? "3.1.1" : nil }
  private static let keepalive: @Sendable (String) -> String? = { text in
    Int(text).map { (5...3_600).contains($0) } == true ? nil : "a number of seconds from 5 to 3600"
  }
  private static let gateway: @Sendable (String) -> String? = { text in
    TopicLevel(level: text) == nil ? "1 to \(TopicLevel.longest) letters, digits, - and _" : nil
  }
  private static let period: @Sendable (String) -> String? = {
    PeriodArgument(argument: $0) == nil ? PeriodArgument.form : nil
  }
  private static let level: @Sendable (String) -> String? = { text in
    ["debug", "info", "notice", "warning", "error"].contains(text) ? nil : "debug, info, notice, warning or error"
  }

  /// Reads a file and returns the command that it describes. Throws `misconfigured` with all mistakes in it, with line and
  /// column.
  static func read(path: String) async throws(AccessoryError) -> Publish {
    do throws(ProfileProblems) {
      let arguments = try await SetupQueue(label: "publish").run { () throws(ProfileProblems) -> [String] in
        try Self.arguments(path: path)
      }
      do {
        return try Publish.parse(arguments)
      } catch {
        // A combination of options that is wrong has no position in the file.
        throw ProfileProblems(
          problems: [ProfileProblem(file: path, line: 1, column: 1, message: Publish.message(for: error))])
      }
    } catch {
      throw AccessoryError(error.kind, error.problems.map(\.description).joined(separator: "\n"))
    }
  }

  private static func arguments(path: String) throws(ProfileProblems) -> [String] {
    let (arguments, settings) = try SettingsFile.arguments(path: path, what: "a publisher", options: options)
    guard settings.contains(where: { $0.key == "broker" }) || BrokerOptions.named != nil else {
      throw ProfileProblems(
        problems: [ProfileProblem(file: path, line: 1, column: 1, message: "the key broker is missing")])
    }
    return arguments
  }
}
