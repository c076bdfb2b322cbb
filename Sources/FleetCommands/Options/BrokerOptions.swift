// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import AccessoryIO
import ArgumentParser
import CommandOutput
import Glibc

/// The versions of MQTT that could be chosen. There is one now: with version 5, libmosquitto ends the program when a broker sends a
/// property that it doesn't know, and nobody can see to it before.
enum MQTTVersion: String, CaseIterable, ExpressibleByArgument {
  case v311 = "3.1.1"
  case v5 = "5"
}

/// Which broker, and how to connect with it.
struct BrokerOptions: ParsableArguments {
  @Option(
    help: .value(
      "url", "The broker: mqtt://[USER@]HOST[:PORT], or mqtts:// for TLS; default: the variable \(Self.variable)."))
  var broker: String?
  /// The name of the password in a systemd unit's credentials.
  private static let credential = "mqtt-password"
  @Option(
    help: .value(
      "file",
      "A file whose first line is the user's password; others may not read it. Default: the systemd credential "
        + "\(Self.credential)."), completion: .file())
  var passwordFile: String?
  @Option(
    help: .value(
      "file", "A file with the certificate authorities that may sign the broker's certificate; default: the system's."),
    completion: .file())
  var ca: String?
  @Option(help: .value("file", "This client's certificate, for brokers that ask for one."), completion: .file())
  var certificate: String?
  @Option(
    help: .value("file", "The key of the certificate, without a password; others may not read it."), completion: .file()
  )
  var key: String?
  @Option(help: .hidden)
  var mqttVersion: MQTTVersion?
  @Option(
    help: .value("seconds", "After this many seconds without a message, check that the broker is there, 5 to 3600."))
  var keepalive: Int = 60

  func validate() throws {
    guard (5...3_600).contains(keepalive) else { throw ValidationError("--keepalive must be from 5 to 3600") }
  }

  /// The variable that names the broker, where `--broker` doesn't.
  static let variable = "ACCESSORY_BRIDGE_BROKER"

  /// The broker that the variable names.
  static var named: String? { getenv(variable).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 } }

  /// The settings for a client with this identifier, checked. Throws `UsageError` without a broker.
  func settings(clientID: String) async throws -> MQTTSettings {
    guard let broker = broker ?? Self.named else {
      throw UsageError("no broker is named: use --broker mqtt://HOST, or set the variable \(Self.variable)")
    }
    if mqttVersion == .v5 {
      Output.note(
        "\(BridgeFleet.name): MQTT 3.1.1 is used: with MQTT 5, libmosquitto lets a broker end this program. "
          + "Leave --mqtt-version (mqtt_version) out.")
    }
    var settings = MQTTSettings(try BrokerAddress(broker), clientID: clientID)
    settings.passwordFile =
      passwordFile ?? (settings.broker.user == nil ? nil : SecretFile.credentialPath(Self.credential))
    (settings.caFile, settings.certificateFile, settings.keyFile) = (ca, certificate, key)
    settings.keepalive = keepalive
    let checked = settings
    try await SetupQueue(label: "settings").run { () throws(AccessoryError) in try checked.check() }
    return settings
  }
}
