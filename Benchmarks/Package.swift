// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "accessory-bridge-benchmarks",
  dependencies: [
    .package(name: "accessory-bridge", path: "..", traits: []),
    // The peer of the round trips; nothing else uses it.
    .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.2"),
  ],
  targets: [
    // The plain programs on USB use the library that the transport uses.
    .systemLibrary(name: "CFloorUSB", pkgConfig: "libusb-1.0", providers: [.apt(["libusb-1.0-0-dev"])]),
    // The faked usbfs of the main package's tests, by a symbolic link.
    .target(name: "CFakedUSB"),
    .target(name: "CFloor", dependencies: ["CFloorUSB", "CFakedUSB"]),
    .executableTarget(
      name: "bridge-bench",
      dependencies: [
        "CFloor",
        .product(name: "ExternalAccessory", package: "accessory-bridge"),
        .product(name: "AccessoryDrivers", package: "accessory-bridge"),
        .product(name: "AccessoryFamilies", package: "accessory-bridge"),
        .product(name: "FamilyAF1", package: "accessory-bridge"),
        .product(name: "FamilyEV3", package: "accessory-bridge"),
        .product(name: "FamilyAF1Simulator", package: "accessory-bridge"),
        .product(name: "FamilyEV3Simulator", package: "accessory-bridge"),
        .product(name: "FamilyMAVLink", package: "accessory-bridge"),
        .product(name: "FamilyHM10", package: "accessory-bridge"),
        .product(name: "AccessoryDiscovery", package: "accessory-bridge"),
        .product(name: "AccessoryLink", package: "accessory-bridge"),
        .product(name: "AccessoryCore", package: "accessory-bridge"),
        .product(name: "AccessoryIO", package: "accessory-bridge"),
        .product(name: "AccessoryProtocols", package: "accessory-bridge"),
        .product(name: "AccessorySimulator", package: "accessory-bridge"),
        .product(name: "NIOCore", package: "swift-nio"),
        .product(name: "NIOPosix", package: "swift-nio"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
