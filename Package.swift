// swift-tools-version: 6.2
import PackageDescription

// What the commands need and the libraries don't. An app turns it off, and then has nothing to fetch for them:
// .package(url: "…/accessory-bridge", …, traits: [])
let commands = TargetDependencyCondition.when(traits: ["Commands"])

// A family of accessories in Swift: the folder Sources/Families/NAME, a line in `families`, and one in AccessoryFamilies.
// `profiles` are the files of its folder that come with the package: profiles, and tables of its own. What simulates its accessories lies
// in its folder Simulator, a target of its own with a line in SimulatedFamilies: a program that only drives accessories doesn't build it.
func family(_ name: String, profiles: String..., isSimulated: Bool = true) -> [Target] {
  let folder = "Sources/Families/\(name)"
  let driver = Target.target(
    name: "Family\(name)",
    dependencies: [
      "AccessoryCore", "AccessoryProtocols", "AccessoryIO", "AccessoryLink", "AccessoryDiscovery", "AccessoryBluetooth",
      "AccessoryConfiguration", "AccessoryDrivers", .product(name: "SystemPackage", package: "swift-system"),
    ],
    path: folder, exclude: isSimulated ? ["Simulator"] : [], resources: profiles.map { .embedInCode("\($0).yaml") })
  let simulator = Target.target(
    name: "Family\(name)Simulator",
    dependencies: [
      .byName(name: driver.name), "AccessoryCore", "AccessoryProtocols", "AccessoryIO", "AccessoryDiscovery",
      "AccessoryBluetooth", "AccessorySimulator",
    ],
    path: folder + "/Simulator")
  return isSimulated ? [driver, simulator] : [driver]
}

let families =
  family("AF1", profiles: "framed", "framed-hid")
  + family("EV3", profiles: "ev3")
  + family("HM10", profiles: "hm10")
  + family("Bluno", profiles: "bluno")
  + family("HM1X", profiles: "hm1x")
  + family("MAVLink", profiles: "mavlink")
  + family("HIDPower", profiles: "hid-power", "power-quirks")
  + family("BatteryService", profiles: "ble-battery", isSimulated: false)
  + family("PowerSupply", profiles: "power-supply", isSimulated: false)

// A package of Swift's project. Where there is no network, as in a build of Debian's, it lies in a folder that the variable names.
func dependency(_ name: String, from version: Version) -> Package.Dependency {
  if let folder = Context.environment["ACCESSORY_BRIDGE_DEPENDENCIES"] { return .package(path: "\(folder)/\(name)") }
  return .package(url: "https://github.com/apple/\(name)", from: version)
}

let package = Package(
  name: "accessory-bridge",
  products: [
    .library(name: "AccessoryCore", targets: ["AccessoryCore"]),
    .library(name: "AccessoryProtocols", targets: ["AccessoryProtocols"]),
    .library(name: "AccessoryIO", targets: ["AccessoryIO"]),
    .library(name: "AccessoryLink", targets: ["AccessoryLink"]),
    .library(name: "AccessoryDiscovery", targets: ["AccessoryDiscovery"]),
    .library(name: "AccessoryBluetooth", targets: ["AccessoryBluetooth"]),
    .library(name: "AccessoryConfiguration", targets: ["AccessoryConfiguration"]),
    .library(name: "AccessoryDescriptions", targets: ["AccessoryDescriptions"]),
    .library(name: "AccessoryDrivers", targets: ["AccessoryDrivers"]),
    .library(name: "AccessoryFamilies", targets: ["AccessoryFamilies"]),
    .library(name: "AccessoryTesting", targets: ["AccessoryTesting"]),
    .library(name: "AccessoryBridge", targets: ["AccessoryBridge"]),
    .library(name: "ExternalAccessory", targets: ["ExternalAccessory"]),
    .library(name: "CoreBluetooth", targets: ["CoreBluetooth"]),
    .library(name: "BLESerial", targets: ["BLESerial"]),
    .library(name: "AccessorySharing", targets: ["AccessorySharing"]),
    .library(name: "AccessorySimulator", targets: ["AccessorySimulator"]),
    .library(name: "SimulatedFamilies", targets: ["SimulatedFamilies"]),
    .executable(name: "bridge-cli", targets: ["bridge-cli"]),
    .executable(name: "bridge-fleet", targets: ["bridge-fleet"]),
  ],
  traits: [
    .trait(name: "Commands", description: "bridge-cli, bridge-fleet and the service"),
    .default(enabledTraits: ["Commands"]),
  ],
  dependencies: [
    dependency("swift-system", from: "1.6.0"),
    dependency("swift-collections", from: "1.2.0"),
    dependency("swift-argument-parser", from: "1.6.0"),
    dependency("swift-log", from: "1.6.0"),
  ],
  targets: [
    .target(name: "CLinuxShims"),
    .target(name: "CChecksums"),
    .target(name: "CDescriptions", exclude: ["Descriptions"]),
    .target(name: "CBridgeInterface", exclude: ["accessorybridge.Bridge.varlink"]),
    .systemLibrary(name: "CLibusb", pkgConfig: "libusb-1.0", providers: [.apt(["libusb-1.0-0-dev"])]),
    .systemLibrary(name: "CLibudev", pkgConfig: "libudev", providers: [.apt(["libudev-dev"])]),
    // Loads libsystemd when it is first used; only its headers are needed here.
    .target(name: "CLibsystemd"),
    .systemLibrary(name: "CLibyaml", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    // As CLibsystemd: bridge-fleet loads libmosquitto, and bridge-cli runs without it.
    .target(name: "CLibmosquitto"),
    // As CLibmosquitto: the native API of Home Assistant loads libsodium.
    .target(name: "CLibsodium"),
    // As CLibsodium: the key of the native API is shown as a QR code.
    .target(name: "CLibqrencode"),
    .target(name: "AccessoryCore"),
    .target(name: "ESPHomeAPI", dependencies: ["AccessoryCore", "CLibsodium"]),
    .target(name: "AccessoryProtocols", dependencies: ["AccessoryCore", "CChecksums"]),
    .target(
      name: "AccessoryLink",
      dependencies: [
        "AccessoryCore", "AccessoryDescriptions",
        "AccessoryIO", "AccessoryProtocols", .product(name: "DequeModule", package: "swift-collections"),
      ]),
    .target(
      name: "AccessoryIO",
      dependencies: [
        "AccessoryCore", "ESPHomeAPI",
        "AccessoryProtocols", "CLinuxShims", "CLibusb",
        .product(name: "SystemPackage", package: "swift-system"),
        .product(name: "DequeModule", package: "swift-collections"),
        .product(name: "HeapModule", package: "swift-collections"),
      ]),
    .target(
      name: "AccessoryDiscovery",
      dependencies: [
        "AccessoryCore", "AccessoryIO", "AccessoryProtocols", "CLibudev",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "AccessoryConfiguration",
      dependencies: [
        "AccessoryCore", "AccessoryIO", "CLibyaml", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "MessageBus",
      dependencies: [
        "AccessoryCore", "AccessoryIO", "CLibsystemd", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "AccessoryDescriptions",
      dependencies: [
        "AccessoryCore", "AccessoryConfiguration", "AccessoryIO", "AccessoryProtocols", "CDescriptions",
      ]),
    .target(
      name: "AccessoryBluetooth",
      dependencies: [
        "AccessoryCore", "AccessoryIO", "AccessoryDiscovery", "MessageBus",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "AccessoryDrivers",
      dependencies: [
        "AccessoryCore", "AccessoryBluetooth", "AccessoryConfiguration", "AccessoryDescriptions",
        "AccessoryLink", "AccessoryProtocols", "AccessoryDiscovery", "AccessoryIO",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "AccessoryFamilies",
      dependencies: [
        "AccessoryCore", "AccessoryConfiguration", "AccessoryDescriptions", "AccessoryDiscovery", "AccessoryDrivers",
      ]),
    .target(name: "SimulatedFamilies", dependencies: ["AccessorySimulator"]),
    .target(
      name: "AccessorySharing",
      dependencies: [
        "AccessoryCore", "AccessoryBluetooth",
        "AccessoryLink", "AccessoryIO", "AccessoryProtocols",
        .product(name: "SystemPackage", package: "swift-system"),
        .product(name: "DequeModule", package: "swift-collections"),
      ]),
    .target(
      name: "AccessoryControl",
      dependencies: [
        "AccessoryCore", "AccessoryIO", "CBridgeInterface", .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(name: "AccessoryEntities", dependencies: ["AccessoryCore", "AccessoryControl"]),
    .target(
      name: "AccessoryExport",
      dependencies: [
        "AccessoryCore", "AccessoryControl", "AccessoryEntities", "AccessoryIO", "ESPHomeAPI", "MessageBus",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "BridgeService",
      dependencies: [
        "AccessoryCore", "AccessoryBluetooth", "AccessoryConfiguration",
        "AccessoryControl", "AccessoryDrivers", "AccessoryDiscovery", "AccessorySharing", "AccessoryLink",
        "AccessoryIO", "AccessoryProtocols", .product(name: "Logging", package: "swift-log", condition: commands),
      ]),
    .target(
      name: "AccessoryBridge",
      dependencies: [
        "AccessoryFamilies",
        "AccessoryCore", "AccessoryBluetooth",
        "AccessoryControl", "AccessoryDrivers", "AccessoryDiscovery", "AccessoryLink", "AccessoryIO",
      ]),
    .target(
      name: "ExternalAccessory",
      dependencies: [
        "AccessoryFamilies",
        "AccessoryBluetooth", "AccessoryCore", "AccessoryControl", "AccessoryDrivers", "AccessoryDiscovery",
        "AccessoryLink", "AccessoryIO",
      ]),
    .target(
      name: "CoreBluetooth", dependencies: ["AccessoryBluetooth", "AccessoryCore", "AccessoryIO"]),
    .target(name: "BLESerial", dependencies: ["AccessoryCore", "AccessoryIO", "CoreBluetooth"]),
    .target(
      name: "AccessorySimulator",
      dependencies: [
        "AccessoryCore", "AccessoryBluetooth", "AccessoryDescriptions",
        "AccessoryIO", "AccessoryProtocols", "AccessoryDiscovery", "CLinuxShims",
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "AccessoryTesting",
      dependencies: ["AccessoryCore", "AccessoryBluetooth", "AccessoryLink", "AccessoryIO", "AccessoryProtocols"]),
    .target(name: "Console", dependencies: ["AccessoryCore", "AccessoryIO"]),
    .target(
      name: "CommandOutput",
      dependencies: [
        "AccessoryCore", "AccessoryControl", "AccessoryIO", "CLibqrencode", "Console",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: commands),
        .product(name: "Logging", package: "swift-log", condition: commands),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "AccessoryWeb",
      dependencies: [
        "AccessoryCore", "AccessoryControl", "AccessoryExport", "AccessoryIO", "CommandOutput", "Console",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      resources: [.embedInCode("Files/page.css"), .embedInCode("Files/page.js"), .embedInCode("Files/icon.svg")]),
    .executableTarget(
      name: "bridge-cli",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryCore", "AccessoryBluetooth", "AccessoryConfiguration", "AccessoryDescriptions",
        "AccessoryBridge", "AccessoryControl", "BridgeService", "CommandOutput", "Console", "AccessoryDrivers",
        "AccessoryDiscovery", "AccessoryExport", "AccessorySimulator", "AccessorySharing", "AccessoryWeb",
        "AccessoryLink", "AccessoryIO", "AccessoryProtocols", "FleetCommands",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: commands),
        .product(name: "Logging", package: "swift-log", condition: commands),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .target(
      name: "AccessoryFleet",
      dependencies: [
        "AccessoryCore", "AccessoryControl", "AccessoryEntities", "AccessoryIO", "CLibmosquitto",
        .product(name: "Logging", package: "swift-log", condition: commands),
        .product(name: "SystemPackage", package: "swift-system"),
        .product(name: "DequeModule", package: "swift-collections"),
      ]),
    .target(
      name: "FleetCommands",
      dependencies: [
        "AccessoryCore", "AccessoryConfiguration", "AccessoryControl", "AccessoryIO", "AccessoryFleet", "AccessoryWeb",
        "CommandOutput", "Console",
        .product(name: "ArgumentParser", package: "swift-argument-parser", condition: commands),
        .product(name: "Logging", package: "swift-log", condition: commands),
        .product(name: "SystemPackage", package: "swift-system"),
      ]),
    .executableTarget(name: "bridge-fleet", dependencies: ["FleetCommands"]),
    .testTarget(
      name: "AccessoryFleetTests",
      dependencies: [
        "AccessoryCore", "AccessoryControl", "AccessoryEntities", "AccessoryIO", "AccessoryFleet", "AccessoryTesting",
        "TestSupport", "bridge-cli", "bridge-fleet",
        .product(name: "Logging", package: "swift-log", condition: commands),
      ], path: "Tests/Units/AccessoryFleetTests",
      exclude: ["Kinds", "Snapshots"]),
    .testTarget(
      name: "AccessoryLinkTests",
      dependencies: [
        "FamilyAF1",
        "FamilyEV3",
        "FamilyMAVLink", "AccessoryCore", "AccessoryTesting", "AccessoryLink", "AccessoryIO", "AccessoryProtocols",
        "TestSupport",
        "FamilyHM10",
      ], path: "Tests/Units/AccessoryLinkTests"),
    .testTarget(
      name: "AccessorySharingTests",
      dependencies: [
        "FamilyAF1",
        "FamilyEV3",
        "AccessoryCore", "AccessoryBluetooth", "AccessorySharing", "AccessoryTesting",
        "AccessoryLink", "AccessoryIO", "AccessoryProtocols",
        "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Units/AccessorySharingTests"),
    .testTarget(
      name: "AccessoryTestingTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryTesting", "AccessoryCore", "AccessoryDrivers", "AccessoryLink", "AccessoryIO", "AccessoryProtocols",
        "OwnGadget", "TestSupport",
      ], path: "Tests/Units/AccessoryTestingTests"),
    .testTarget(
      name: "ConsoleTests",
      dependencies: ["AccessoryCore", "AccessoryTesting", "Console", "AccessoryIO", "TestSupport"],
      path: "Tests/Units/ConsoleTests"),
    .testTarget(
      name: "CommandOutputTests",
      dependencies: [
        "AccessoryCore", "AccessoryControl", "AccessoryIO", "AccessoryTesting", "CommandOutput", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Units/CommandOutputTests"),
    .testTarget(name: "AccessoryCoreTests", dependencies: ["AccessoryCore"], path: "Tests/Units/AccessoryCoreTests"),
    .testTarget(
      name: "AccessoryProtocolsTests",
      dependencies: [
        "FamilyAF1",
        "FamilyEV3",
        "FamilyMAVLink", "FamilyHM1X", "AccessoryCore", "AccessoryProtocols", "TestSupport",
        "FamilyBluno",
        "FamilyHM10",
      ],
      path: "Tests/Units/AccessoryProtocolsTests"),
    // The tests of all families, each in a folder of its own.
    .testTarget(
      name: "FamilyTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies", "AccessoryConfiguration", "AccessoryCore", "AccessoryDiscovery",
        "AccessoryDrivers", "AccessoryIO", "AccessoryLink", "AccessoryProtocols", "AccessorySimulator",
        "AccessoryTesting", "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Families"),
    .target(name: "CTestShims", path: "Tests/Support/CTestShims"),
    .target(name: "CFakeUSB", path: "Tests/Adapters/CFakeUSB"),
    .target(
      name: "TestSupport",
      dependencies: [
        "AccessoryConfiguration", "AccessoryDescriptions", "AccessoryTesting", "ESPHomeAPI", "AccessorySimulator",
        "AccessoryControl", "AccessoryIO", "AccessoryProtocols", "FamilyAF1",
        "FamilyHIDPower", "FamilyHIDPowerSimulator", "CTestShims", "AccessoryLink",
        .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/Support/TestSupport"),
    .executableTarget(
      name: "TestChild",
      dependencies: [
        "AccessoryCore", "AccessoryControl", "AccessoryExport", "AccessoryIO", "AccessoryProtocols", "CLinuxShims",
        "TestSupport",
      ],
      path: "Tests/Support/TestChild"),
    .testTarget(
      name: "AccessoryIOTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryCore",
        "AccessoryIO", "AccessoryTesting", "CLinuxShims", "ESPHomeAPI", "TestChild", "TestSupport", "AccessoryLink",
        "AccessoryDrivers",
        "AccessorySimulator",
      ], path: "Tests/Units/AccessoryIOTests"),
    .testTarget(
      name: "USBTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryCore",
        "AccessoryIO", "AccessoryLink", "AccessoryDrivers", "AccessorySimulator", "AccessoryProtocols", "CFakeUSB",
        "TestSupport",
      ], path: "Tests/Adapters/USBTests"),
    .testTarget(
      name: "AccessoryBluetoothTests",
      dependencies: [
        "AccessoryCore", "AccessoryBluetooth", "AccessoryDiscovery", "AccessoryDrivers", "AccessoryIO", "AccessoryLink",
        "CLibsystemd", "FamilyBatteryService", "MessageBus", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Units/AccessoryBluetoothTests"),
    .testTarget(
      name: "AccessoryDiscoveryTests",
      dependencies: ["AccessoryCore", "AccessoryDiscovery", "AccessoryIO", "TestChild", "TestSupport"],
      path: "Tests/Units/AccessoryDiscoveryTests"),
    .systemLibrary(
      name: "CUmockdev", path: "Tests/Adapters/CUmockdev", pkgConfig: "umockdev-1.0",
      providers: [.apt(["libumockdev-dev"])]),
    .testTarget(
      name: "UdevMockTests",
      dependencies: [
        "AccessoryCore",
        "AccessoryDiscovery", "AccessoryIO", "AccessoryLink", "CUmockdev", "FamilyPowerSupply", "TestSupport",
        "bridge-cli",
        .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Adapters/UdevMockTests"),
    .testTarget(
      name: "AccessoryControlTests",
      dependencies: [
        "AccessoryConfiguration", "AccessoryCore",
        "AccessoryControl", "AccessoryIO", "AccessoryTesting", "CTestShims", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Units/AccessoryControlTests"),
    .testTarget(
      name: "AccessoryExportTests",
      dependencies: [
        "AccessoryCore", "AccessoryControl", "AccessoryEntities", "AccessoryExport", "AccessoryIO", "AccessoryTesting",
        "ESPHomeAPI", "MessageBus", "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Units/AccessoryExportTests"),
    .testTarget(
      name: "ESPHomeAPITests", dependencies: ["AccessoryCore", "ESPHomeAPI", "TestSupport"],
      path: "Tests/Units/ESPHomeAPITests"),
    .testTarget(
      name: "AccessoryWebTests",
      dependencies: [
        "AccessoryCore", "AccessoryControl", "AccessoryExport", "AccessoryIO", "AccessoryTesting", "AccessoryWeb",
        "CommandOutput", "TestSupport",
      ], path: "Tests/Units/AccessoryWebTests"),
    .testTarget(
      name: "AccessorySimulatorTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryBluetooth", "AccessoryCore", "AccessoryTesting",
        "AccessorySimulator", "AccessoryDrivers", "AccessoryLink", "AccessoryDiscovery", "AccessoryIO",
        "AccessoryProtocols", "TestSupport",
      ], path: "Tests/Units/AccessorySimulatorTests"),
    .testTarget(
      name: "AccessoryDescriptionsTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryBluetooth", "AccessoryConfiguration", "AccessoryControl", "AccessoryCore", "AccessoryDescriptions",
        "AccessoryDiscovery", "AccessoryDrivers", "AccessoryIO", "AccessoryLink", "AccessoryProtocols",
        "AccessoryTesting", "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Units/AccessoryDescriptionsTests"),
    .testTarget(
      name: "AccessoryDriversTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryCore", "AccessoryConfiguration", "AccessoryDescriptions",
        "AccessoryDrivers", "AccessoryLink", "AccessoryDiscovery", "AccessoryIO", "AccessoryProtocols", "OwnGadget",
        "AccessoryControl", "AccessoryExport",
        "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Units/AccessoryDriversTests"),
    .testTarget(
      name: "ExternalAccessoryTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryBluetooth", "AccessoryCore",
        "ExternalAccessory", "AccessorySimulator", "AccessoryDrivers", "AccessoryDiscovery", "AccessoryLink",
        "AccessoryIO", "AccessoryProtocols", "BridgeService", "AccessoryControl", "TestSupport", "bridge-cli",
        "DelegateClient", "NativeClient", "ClientsOfSwift5", "ClientsOfSwift6", "ClientsOfSwift6In5",
        "MainRunLoopClient",
        .product(name: "Logging", package: "swift-log", condition: commands),
        .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Units/ExternalAccessoryTests"),
    .testTarget(
      name: "CoreBluetoothTests",
      dependencies: [
        "AccessoryBluetooth", "AccessoryCore", "AccessoryIO", "AccessoryTesting", "BluetoothClientOfSwift5",
        "BluetoothClientOfSwift6", "BluetoothStory", "BluetoothTerminal", "BatteryPeripheral", "CarelessBluetooth",
        "CoreBluetooth", "TestSupport",
      ], path: "Tests/Units/CoreBluetoothTests"),
    .testTarget(
      name: "BLESerialTests",
      dependencies: [
        "AccessoryCore", "AccessoryTesting", "BLESerial", "CoreBluetooth", "NearestModule", "TestSupport",
      ],
      path: "Tests/Units/BLESerialTests"),
    .executableTarget(name: "NearestModule", dependencies: ["BLESerial"], path: "Examples/NearestModule"),
    // Clients as they are written for iOS.
    .target(
      name: "BluetoothClientOfSwift5", dependencies: ["CoreBluetooth"], path: "Tests/Clients/Bluetooth5",
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .target(name: "BluetoothClientOfSwift6", dependencies: ["CoreBluetooth"], path: "Tests/Clients/Bluetooth6"),
    .executableTarget(
      name: "CarelessBluetooth", dependencies: ["AccessoryTesting", "CoreBluetooth"],
      path: "Tests/Clients/CarelessBluetooth"),
    .executableTarget(name: "BluetoothStory", dependencies: ["CoreBluetooth"], path: "Tests/Clients/BluetoothStory"),
    .executableTarget(
      name: "BluetoothEcho", dependencies: ["AccessoryBluetooth", "AccessoryCore", "AccessoryIO"],
      path: "Tests/Clients/BluetoothEcho"),
    .executableTarget(
      name: "BatteryPeripheral", dependencies: ["CoreBluetooth"], path: "Examples/BatteryPeripheral"),
    .executableTarget(
      name: "BluetoothTerminal", dependencies: ["CoreBluetooth"], path: "Examples/BluetoothTerminal"),
    .executableTarget(
      name: "DelegateClient", dependencies: ["ExternalAccessory", "AccessoryProtocols", "FamilyAF1"],
      path: "Examples/DelegateClient", swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(
      name: "NativeClient",
      dependencies: [
        "AccessoryFamilies", "AccessoryCore", "AccessoryDrivers", "AccessoryDiscovery", "AccessoryLink", "AccessoryIO",
      ],
      path: "Examples/NativeClient"),
    .executableTarget(name: "BatteryWatch", dependencies: ["AccessoryBridge"], path: "Examples/BatteryWatch"),
    .executableTarget(name: "ModuleTerminal", dependencies: ["AccessoryBridge"], path: "Examples/ModuleTerminal"),
    .executableTarget(
      name: "OwnGadget",
      dependencies: ["AccessoryCore", "AccessoryDrivers", "AccessoryLink", "AccessoryIO", "AccessoryProtocols"],
      path: "Examples/OwnGadget"),
    // A thousand gateways in one process, for make fleet-scale.
    .executableTarget(
      name: "fleet-scale",
      dependencies: [
        "AccessoryCore", "AccessoryControl", "AccessoryIO", "AccessoryFleet",
        .product(name: "Logging", package: "swift-log", condition: commands),
      ],
      path: "Benchmarks/FleetScale/Load"),
    // Programs as they are written for iOS, for the tests to run.
    .executableTarget(
      name: "ClientsOfSwift5", dependencies: ["ExternalAccessory"], path: "Tests/Clients/Swift5",
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(name: "ClientsOfSwift6", dependencies: ["ExternalAccessory"], path: "Tests/Clients/Swift6"),
    // The same, by a symbolic link, in Swift 5 mode.
    .executableTarget(
      name: "ClientsOfSwift6In5", dependencies: ["ExternalAccessory"], path: "Tests/Clients/Swift6In5",
      swiftSettings: [.swiftLanguageMode(.v5)]),
    .executableTarget(
      name: "MainRunLoopClient",
      dependencies: ["AccessoryCore", "ExternalAccessory", "AccessoryDiscovery", "AccessoryIO", "TestSupport"],
      path: "Tests/Clients/MainRunLoop", swiftSettings: [.swiftLanguageMode(.v5)]),
    .testTarget(
      name: "AccessoryBridgeTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryCore",
        "AccessoryBridge", "BridgeService", "AccessoryControl", "AccessorySimulator", "AccessoryDrivers",
        "AccessoryDiscovery", "AccessoryLink", "AccessoryIO", "AccessoryProtocols", "AccessorySharing", "TestSupport",
        "bridge-cli", "BatteryWatch", "ModuleTerminal", "OwnGadget",
      ], path: "Tests/Service/AccessoryBridgeTests"),
    .testTarget(
      name: "BridgeServiceTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryCore", "AccessoryConfiguration",
        "AccessoryBridge", "BridgeService", "AccessoryControl", "AccessorySimulator", "AccessoryDrivers",
        "AccessoryDiscovery", "AccessoryLink", "AccessoryIO", "AccessoryProtocols", "TestSupport",
        .product(name: "Logging", package: "swift-log", condition: commands),
      ], path: "Tests/Service/BridgeServiceTests"),
    .testTarget(
      name: "CommandTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryCore", "AccessoryConfiguration",
        "bridge-cli", "bridge-fleet", "AccessorySimulator", "AccessoryControl", "AccessoryDiscovery",
        "AccessoryDrivers",
        "AccessoryLink", "AccessoryIO", "AccessoryProtocols", "TestSupport",
        .product(name: "SystemPackage", package: "swift-system"),
      ], path: "Tests/Commands"),
  ],
  swiftLanguageModes: [.v6]
)

// Tests that need a kernel with USB: `make lab` builds them here and runs them in a guest (see Tests/Lab).
if Context.environment["ACCESSORY_BRIDGE_LAB"] == "1" {
  package.targets.append(
    .testTarget(
      name: "LabTests",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryCore",
        "bridge-cli", "AccessorySimulator", "AccessoryDrivers", "AccessoryLink", "AccessoryDiscovery", "AccessoryIO",
        "AccessoryControl", "AccessoryProtocols", "DelegateClient", "NativeClient", "ClientsOfSwift5",
        "ClientsOfSwift6", "TestChild",
        "TestSupport", .product(name: "SystemPackage", package: "swift-system"),
      ],
      path: "Tests/Lab/Tests"))
}

// The drivers at the other end of hostile devices: Tests/Fuzz/run builds it, and it is nothing without libFuzzer.
if Context.environment["ACCESSORY_BRIDGE_FUZZ"] == "1" {
  package.targets.append(
    .executableTarget(
      name: "ExchangeFuzz",
      dependencies: [
        "AccessoryFamilies", "SimulatedFamilies",
        "AccessoryBluetooth", "AccessoryDiscovery", "AccessoryExport", "CLibsystemd", "ESPHomeAPI", "MessageBus",
        "AccessoryCore", "AccessoryConfiguration", "AccessoryDrivers", "AccessoryLink", "AccessorySimulator",
        "AccessorySharing",
        "AccessoryTesting",
        "AccessoryIO", "AccessoryProtocols",
      ],
      path: "Tests/Fuzz/Exchanges", swiftSettings: [.unsafeFlags(["-parse-as-library"])]))
}

// Each family is a library, so that a program can import one without the others, and so is its simulator. AccessoryFamilies and
// SimulatedFamilies name them all, and who uses these may import each: but for bridge-cli, which asks their lists alone.
package.targets += families
package.products += families.map { .library(name: $0.name, targets: [$0.name]) }
for target in package.targets where target.name != "bridge-cli" {
  for list in ["AccessoryFamilies", "SimulatedFamilies"] {
    guard target.name == list || target.dependencies.contains(where: { name(of: $0) == list }) else { continue }
    let isOfSimulators = list == "SimulatedFamilies"
    target.dependencies += families.map(\.name).filter { $0.hasSuffix("Simulator") == isOfSimulators }.map {
      .byName(name: $0)
    }
  }
}

// The target that this is, if it is one of this package.
func name(of dependency: Target.Dependency) -> String? {
  if case .byNameItem(let name, _) = dependency { name } else { nil }
}

// ACCESSORY_BRIDGE_ONLY=AccessoryLinkTests,USBTests builds these targets and what they need, for quick turns while
// working on one room: a change at the bottom otherwise has everything built anew.
if let only = Context.environment["ACCESSORY_BRIDGE_ONLY"] {
  var wanted: Set<String> = []
  var open = only.split(separator: ",").map(String.init)
  while let name = open.popLast() {
    guard wanted.insert(name).inserted, let target = package.targets.first(where: { $0.name == name }) else { continue }
    open += target.dependencies.compactMap(name(of:))
  }
  package.targets.removeAll { !wanted.contains($0.name) }
  package.products = []
}

// An `async` function without an actor of its own runs where its caller runs. So a request is put together in its caller's
// place, and its reply resumes the caller there, without a change of threads in between.
for target in package.targets where target.type != .system {
  target.swiftSettings = (target.swiftSettings ?? []) + [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]
}

// Set by the Makefile, for the programs that users get. Targets that handle each byte or frame stay fast; all others are compiled for size.
if Context.environment["ACCESSORY_BRIDGE_SMALL"]?.isEmpty == false {
  let fast = [
    "AccessoryCore", "AccessoryProtocols", "AccessoryIO", "AccessoryDescriptions", "AccessoryLink", "AccessorySharing",
    "ESPHomeAPI",
    "FamilyAF1", "FamilyMAVLink",
  ]
  for target in package.targets where target.type != .system && !fast.contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.unsafeFlags(["-Osize"])]
  }
}

// Set by the Makefile, so that a newer compiler's warnings don't break the builds of others.
if Context.environment["ACCESSORY_BRIDGE_STRICT"]?.isEmpty == false {
  for target in package.targets
  where target.type != .system && !["CLinuxShims", "CTestShims", "CFakeUSB"].contains(target.name) {
    target.swiftSettings = (target.swiftSettings ?? []) + [.treatAllWarnings(as: .error)]
  }
}
