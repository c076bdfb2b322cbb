// SPDX-License-Identifier: Apache-2.0

import AccessoryDrivers
import AccessoryFamilies
import AccessoryProtocols
import Testing

/// Every description that comes with the package holds what its examples say.
@Suite struct ShippedExampleTests {
  @Test(arguments: DescriptionLibrary.builtIn.names) func examplesOfBuiltInDescriptionsAreRight(name: String) throws {
    let described = try #require(DescriptionLibrary.builtIn.described(name))
    #expect(!described.description.examples.isEmpty)
    #expect(DescriptionCheck.problems(in: described, file: name).map(\.description) == [])
  }
}
