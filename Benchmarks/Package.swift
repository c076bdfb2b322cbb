// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "accessory-bridge-benchmarks",
  dependencies: [.package(name: "accessory-bridge", path: "..")],
  targets: [
    .target(name: "CFloor"),
    .executableTarget(
      name: "bridge-bench",
      dependencies: [
        "CFloor",
        .product(name: "AccessoryDrivers", package: "accessory-bridge"),
        .product(name: "AccessoryLink", package: "accessory-bridge"),
        .product(name: "AccessoryIO", package: "accessory-bridge"),
        .product(name: "AccessoryProtocols", package: "accessory-bridge"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
