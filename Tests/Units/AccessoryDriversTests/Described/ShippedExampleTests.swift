// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryFamilies
import AccessoryProtocols
import SystemPackage
import TestSupport
import Testing

/// Every description that comes with the package, or is an example of one, holds what its examples say.
@Suite struct ShippedExampleTests {
  @Test(arguments: DescriptionLibrary.builtIn.names) func examplesOfBuiltInDescriptionsAreRight(name: String) throws {
    let described = try #require(DescriptionLibrary.builtIn.described(name))
    #expect(!described.description.examples.isEmpty)
    #expect(DescriptionCheck.problems(in: described, file: name).map(\.description) == [])
  }

  @Test(arguments: ["dsmr", "msp", "odrive", "pms5003", "power-monitor", "pylontech-console", "ubx"])
  func examplesInTheExamplesFolderAreRight(name: String) throws {
    let path = FilePath(ProjectFolder.path).appending("Examples/Protocols/\(name).yaml")
    let described = try DescriptionReader.read(path: path.string)
    #expect(!described.description.examples.isEmpty)
    #expect(DescriptionCheck.problems(in: described, file: name).map(\.description) == [])
  }
}
