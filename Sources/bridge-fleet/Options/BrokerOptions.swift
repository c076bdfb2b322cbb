// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFleet
import AccessoryIO
import ArgumentParser
import CommandOutput

extension MQTTVersion: ExpressibleByArgument {}

/// Which broker, and how to connect with it.
struct BrokerOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The broker: mqtt://[USER@]HOST[:PORT], or mqtts:// for TLS.", valueName: "url"))
  var broker: String?
  @Option(
    help: ArgumentHelp(
      "A file whose first line is the user's password; others may not read it. Default: the systemd credential "
        + "\(SecretFile.credential).", valueName: "file"), completion: .file())
  var passwordFile: String?
  @Option(
    help: ArgumentHelp(
      "The certificates, in one file, by which the broker's may be signed; default: the system's.", valueName: "file"),
    completion: .file())
  var ca: String?
  @Option(
    help: ArgumentHelp("This client's certificate, for brokers that ask for one.", valueName: "file"),
    completion: .file())
  var certificate: String?
  @Option(
    help: ArgumentHelp("The key of the certificate, without a password; others may not read it.", valueName: "file"),
    completion: .file())
  var key: String?
  @Option(
    help: ArgumentHelp(
      "The version of MQTT: 5 or 3.1.1; default: 5, and 3.1.1 if the broker refuses that.", valueName: "version"))
  var mqttVersion: MQTTVersion?
  @Option(
    help: ArgumentHelp(
      "After how many seconds without a message to ask whether the broker is there, 5 to 3600.", valueName: "seconds"))
  var keepalive: Int = 60

  func validate() throws {
    guard (5...3_600).contains(keepalive) else { throw ValidationError("--keepalive must be from 5 to 3600") }
  }

  /// The settings for a client with this identifier, checked. Throws `UsageError` without a broker.
  func settings(clientID: String) async throws -> MQTTSettings {
    guard let broker else { throw UsageError("which broker? --broker mqtt://HOST names it") }
    var settings = MQTTSettings(try BrokerAddress(broker), clientID: clientID)
    settings.passwordFile = passwordFile ?? (settings.broker.user == nil ? nil : SecretFile.credentialPath())
    (settings.caFile, settings.certificateFile, settings.keyFile) = (ca, certificate, key)
    (settings.version, settings.keepalive) = (mqttVersion, keepalive)
    let checked = settings
    try await SetupQueue(label: "settings").run { () throws(AccessoryError) in try checked.check() }
    return settings
  }
}
