// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryIO
import Testing

@testable import AccessoryFleet

/// Names as levels of topics, and topics that a broker sends.
struct TopicTests {
  /// A name with only the allowed characters is its own level.
  @Test(arguments: ["SIM0001", "a", "A-z_09", "x-0123456789abcde"])
  func aPlainNameIsItsOwnLevel(name: String) { #expect(TopicLevel(naming: name).text == name) }

  /// Any other name gets a readable beginning and a sum.
  @Test
  func anyOtherNameGetsASum() {
    #expect(TopicLevel(naming: "FT4X1@2").text == "FT4X1-2-b424876efef46d98")
    #expect(TopicLevel(naming: "").text == "-e3b0c44298fc1c14")
    #expect(TopicLevel(naming: "/dev/ttyUSB0").text.hasPrefix("-dev-ttyUSB0-"))
    let long = TopicLevel(naming: String(repeating: "x", count: 65)).text
    #expect(long.hasPrefix(String(repeating: "x", count: 24) + "-") && long.utf8.count == 41)
  }

  /// Different names have different levels, also where one imitates the level of another.
  @Test
  func differentNamesHaveDifferentLevels() {
    let names = [
      "FT4X1@2", "FT4X1@3", "FT4X1-2", "FT4X1-2-b424876efef46d98", "FT4X1/2", "FT4X1+2", "FT4X1#2", "ÄÖ", "äö", "",
      "a\u{0}b", "a/b", "é", "e\u{301}", String(repeating: "x", count: 64), String(repeating: "x", count: 65),
    ]
    // By their bytes: as strings, `é` in its two forms would be equal.
    let levels = Set(names.map { TopicLevel(naming: $0) })
    #expect(levels.count == names.count)
    #expect(levels.allSatisfy { TopicLevel(level: $0.text) != nil })
  }

  /// Two accessories with one id on one gateway have levels of their own.
  @Test
  func accessoriesWithOneIDHaveDifferentLevels() {
    let first = TopicLevel(naming: "0001", at: "/dev/ttyUSB0")
    #expect(first != TopicLevel(naming: "0001", at: "/dev/ttyUSB1") && first != TopicLevel(naming: "0001"))
    #expect(first.text.hasPrefix("0001-"))
  }

  /// A level isn't read from text that has wildcards, separators or another length.
  @Test
  func whatIsNoLevelIsRefused() {
    for text in ["", "+", "#", "a/b", "a b", "ä", "a\u{0}", String(repeating: "x", count: 65)] {
      #expect(TopicLevel(level: text) == nil, "\(text)")
    }
  }

  /// Topics are read as they are made.
  @Test
  func topicsAreReadAsTheyAreMade() throws {
    let gateway = TopicLevel(naming: "attic-3f2a9c01")
    let (id, command) = (TopicLevel(naming: "SIM0001"), TopicLevel(naming: "motor-speed"))
    let topics = FleetTopics(gateway)
    #expect(topics.availability == "accessory-bridge/attic-3f2a9c01/availability")
    #expect(FleetTopic(topics.availability) == .gateway(gateway, .availability))
    #expect(FleetTopic(topics.info) == .gateway(gateway, .info))
    #expect(FleetTopic(topics.availability(of: id)) == .accessory(gateway: gateway, id, .availability))
    #expect(FleetTopic(topics.state(of: id)) == .accessory(gateway: gateway, id, .state))
    #expect(FleetTopic(topics.values(of: id)) == .accessory(gateway: gateway, id, .values))
    #expect(FleetTopic(topics.event(of: id)) == .accessory(gateway: gateway, id, .event))
    #expect(topics.set(command, of: id) == "accessory-bridge/attic-3f2a9c01/SIM0001/motor-speed/set")
    #expect(FleetTopic(topics.set(command, of: id)) == .command(gateway: gateway, accessory: id, command, .set))
    #expect(FleetTopic(topics.result(command, of: id)) == .command(gateway: gateway, accessory: id, command, .result))
  }

  /// Topics of others aren't read.
  @Test(arguments: [
    "", "/", "accessory-bridge", "accessory-bridge/g", "accessory-bridge//availability", "other/g/availability",
    "accessory-bridge/g/nothing", "accessory-bridge/g/a/nothing", "accessory-bridge/g/+/state",
    "accessory-bridge/g/a/state/", "accessory-bridge/g/a/c/set/more", "accessory-bridge/g/a b/state",
    "/accessory-bridge/g/availability", "accessory-bridge/g/a/c/state",
    "accessory-bridge/" + String(repeating: "x", count: 70_000),
    String(repeating: "/", count: 65_535), "accessory-bridge/g\u{0}/availability", "accessory-bridge/é/availability",
  ])
  func topicsOfOthersAreNotRead(topic: String) { #expect(FleetTopic(topic) == nil) }

  /// Filters name all gateways, or one.
  @Test
  func filtersNameAllGatewaysOrOne() {
    let gateway = TopicLevel(naming: "attic")
    #expect(FleetTopics.Filter.gateways(.availability) == "accessory-bridge/+/availability")
    #expect(FleetTopics.Filter.accessories(.state, of: gateway) == "accessory-bridge/attic/+/state")
    #expect(FleetTopics(gateway).allCommands == "accessory-bridge/attic/+/+/set")
  }
}

/// The name of a gateway, and the sums that names are made of.
struct GatewayNameTests {
  /// SHA-256 of FIPS 180-4's examples, and of lengths around a block's end.
  @Test
  func sha256SumsAreAsPublished() {
    func sum(_ text: String) -> String { Hexadecimal.string(SHA256.sum(Array(text.utf8))) }
    #expect(sum("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
    #expect(sum("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(
      sum("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
        == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
    // By Python's hashlib.
    let lengths = [
      (55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"),
      (56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"),
      (63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"),
      (64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"),
      (119, "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb"),
      (120, "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c"),
    ]
    for (length, expected) in lengths { #expect(sum(String(repeating: "a", count: length)) == expected, "\(length)") }
  }

  /// HMAC-SHA-256 of RFC 4231's examples.
  @Test
  func hmacSumsAreAsPublished() {
    func code(_ key: [UInt8], _ text: String) -> String {
      Hexadecimal.string(SHA256.authentication(of: Array(text.utf8), key: key))
    }
    #expect(
      code([UInt8](repeating: 0x0B, count: 20), "Hi There")
        == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
    #expect(
      code(Array("Jefe".utf8), "what do ya want for nothing?")
        == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    #expect(
      code([UInt8](repeating: 0xAA, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First")
        == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }

  /// A machine's identity is published as systemd computes it for this application.
  @Test
  func aMachinesIdentityIsAsSystemdComputesIt() throws {
    // As `systemd-id128 machine-id --app-specific=d8febfd21d3f575986c2c1802a3897ea` prints it on such a machine.
    let identity = try #require(Hexadecimal.bytes("3d1219c7c4c5404aaa1f6d2a48adfda4"))
    #expect(MachineIdentity.digits(identity) == "75bd7ab2")
  }

  /// A gateway's name is its host name without the domain, and a sum of its machine id.
  @Test
  func aGatewaysNameIsHostNameAndSum() throws {
    let identity = try #require(Hexadecimal.bytes("3d1219c7c4c5404aaa1f6d2a48adfda4"))
    func name(_ host: String) -> String { GatewayName.standard(hostName: host, identity: identity).text }
    #expect(name("attic") == "attic-75bd7ab2")
    #expect(name("attic.example.org") == "attic-75bd7ab2")
    #expect(name("my box+#") == "my-box---75bd7ab2")
    #expect(name("") == "gateway-75bd7ab2")
    #expect(name(String(repeating: "x", count: 255)).utf8.count == 49)
    #expect(name("attic") != GatewayName.standard(hostName: "attic", identity: identity.reversed()).text)
  }

  /// A machine without an identity, and a name that can't be one, are errors that say what to do.
  @Test
  func aGatewayWithoutAUsableNameIsAnError() {
    #expect(throws: AccessoryError.self) {
      try GatewayName.ofThisMachine(hostName: "attic", identityPath: "/nonexistent")
    }
    #expect(throws: AccessoryError.self) { try GatewayName.read("a/b") }
    #expect(throws: AccessoryError.self) { try GatewayName.read("") }
    #expect(throws: Never.self) { try GatewayName.read("attic_2-b") }
  }
}
