// swift-tools-version: 6.2
import PackageDescription

let package = Package(
  name: "accessory-bridge",
  dependencies: [
    .package(url: "https://github.com/apple/swift-system", from: "1.6.0"),
    .package(url: "https://github.com/apple/swift-collections", from: "1.2.0"),
    .package(url: "https://github.com/apple/swift-argument-parser", from: "1.6.0"),
  ],
  targets: [
    .target(name: "CLinuxShims"),
    .target(name: "AccessoryProtocols"),
    .target(
      name: "AccessoryIO",
      dependencies: [
        "CLinuxShims",
        .product(name: "SystemPackage", package: "swift-system"),
        .product(name: "HeapModule", package: "swift-collections"),
      ]),
  ],
  swiftLanguageModes: [.v6]
)
