// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryFamilies
import SimulatedFamilies
import Testing

/// What each family says of its simulator.
struct SimulatorKindTests {
  @Test(arguments: SimulatorKinds.builtIn.indices) func theOptionsOfAKindFitTogether(place: Int) {
    func check<Kind: SimulatedKind>(_ kind: Kind.Type) {
      let names = Kind.options.map(\.name)
      #expect(Set(names).count == names.count, "\(Kind.name)")
      #expect(Kind().problem == nil && Kind.abstract.hasPrefix("Simulates "), "\(Kind.name)")
      for option in Kind.options {
        #expect(option.help.hasSuffix(".") && !option.isArgument, "\(Kind.name) --\(option.name)")
        // What counts where nothing is said is allowed.
        let standard: OptionValue? =
          switch option.form {
          case .whole(_, let number): number.map { .whole($0) }
          case .number(_, _, let number): .number(number)
          case .text(_, _, let text): text.map { .text($0) }
          default: nil
          }
        #expect(
          standard.flatMap { option.form.problem(with: $0, of: option.name) } == nil, "\(Kind.name) --\(option.name)")
      }
    }
    check(SimulatorKinds.builtIn[place])
  }

  @Test func eachKindHasANameOfItsOwnWhichIsThatOfItsDriver() {
    let names = SimulatorKinds.builtIn.map { $0.name }
    #expect(Set(names).count == names.count)
    let drivers = DriverLibrary.builtIn.drivers.map(\.name)
    // A UPS is simulated, whose reports are read by a driver for all of them.
    #expect(names.filter { !drivers.contains($0) } == ["ups"])
  }
}
