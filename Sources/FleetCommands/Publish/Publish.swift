// SPDX-License-Identifier: Apache-2.0

import AccessoryControl
import AccessoryCore
import AccessoryFleet
import AccessoryIO
import ArgumentParser
import CommandOutput
import Logging

struct Publish: AsyncParsableCommand, JSONCommand {
  static let configuration = CommandConfiguration(
    commandName: "publish",
    abstract: "Publishes this machine's accessories on an MQTT broker, until it is interrupted.",
    discussion: """
      It follows the service of this machine (bridge-cli serve) and publishes below accessory-bridge/GATEWAY: which \
      accessories are attached, their status, battery and values, and what happens to them; and for Home Assistant, which \
      entities they have. The broker retains the current state, and marks this gateway as offline when its connection \
      ends. An accessory that is unplugged is offline; after --forget-after it is removed from the broker.

      The password can't be part of the broker's address, because other users can see a program's arguments.

      EXAMPLES
        bridge-fleet publish --broker mqtt://localhost
        bridge-fleet publish --broker mqtts://attic@broker.example --password-file /etc/accessory-bridge/mqtt-password
        bridge-fleet publish --broker mqtts://broker.example --ca ca.pem --certificate attic.pem --key attic.key
        bridge-fleet publish --config /etc/accessory-bridge/fleet.yaml
      """)

  @OptionGroup var connection: BrokerOptions
  @Option(
    help: .value(
      "file", "Take these options from a file instead: broker, password_file, ca, certificate, key, gateway and so on."),
    completion: .file(extensions: ["yaml", "yml"]))
  var config: String?
  @Option(
    help: .value(
      "name", "This gateway's name in topics; default: the host name with eight digits made from the machine id."))
  var gateway: String?
  @Option(help: .value("prefix", "The prefix of Home Assistant's discovery, or none."))
  var discoveryPrefix: String = DiscoveryMessage.standardPrefix
  @Flag(help: "Let the broker retain only availability and discovery, not states and values.")
  var noRetain = false
  @Option(
    help: .value("time", "How long an accessory that is gone stays on the broker as offline; 0s: not at all."),
    transform: PeriodArgument.read)
  var forgetAfter: PeriodArgument = .init(argument: "7d")!
  @Option(
    help: .value("path", "The socket of the service; default: where bridge-cli looks for it."), completion: .file())
  var socket: String?
  @Option(help: .value("level", "How much to log: debug, info, notice, warning or error."))
  var logLevel = Logger.Level.info
  @OptionGroup var output: OutputOptions

  func validate() throws {
    let allowed = discoveryPrefix.split(separator: "/", omittingEmptySubsequences: false)
    let isLevels = allowed.allSatisfy { level in
      !level.isEmpty
        && level.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "#") }
    }
    guard isLevels, discoveryPrefix.utf8.count <= 128 else {
      throw ValidationError(
        "--discovery-prefix must be a topic without wildcards and blanks, of at most 128 bytes, or none")
    }
    if config != nil, connection.broker != nil {
      throw ValidationError("--config FILE names the broker, too: give one of --config and --broker")
    }
  }

  func run() async throws {
    if let config {
      var publish = try await PublishFile.read(path: config)
      publish.output = output
      return try await publish.publish()
    }
    try await publish()
  }

  private func publish() async throws {
    let log = ServiceLog.logger(BridgeFleet.name, logLevel, json: output.json)
    defer { ServiceLog.finish() }
    let name =
      try gateway.map { text throws(AccessoryError) in try GatewayName.read(text) } ?? GatewayName.ofThisMachine()
    let sockets = socket.map { [$0] } ?? PublisherSettings.usualSockets()
    guard !sockets.isEmpty else {
      throw AccessoryError(.misconfigured, "there is no socket to look for a service at: name it with --socket")
    }
    var settings = PublisherSettings(
      gateway: name, host: MachineIdentity.hostName(), version: BridgeFleet.version, sockets: sockets)
    settings.discoveryPrefix = discoveryPrefix == "none" ? nil : discoveryPrefix
    settings.retainsStates = !noRetain
    settings.forgetAfter = forgetAfter.duration
    var broker = try await connection.settings(clientID: ClientIdentifier.ofPublisher(name))
    broker.will = settings.will
    let publisher = FleetPublisher(settings, mqtt: MQTTClient(broker), log: log)
    log.info("publishing on \(broker.broker) as \(name)")
    let notifier = ServiceNotifier()
    await notifier.report(.ready)
    await publisher.run()
    await notifier.report(.stopping)
    log.info("ended")
  }
}
