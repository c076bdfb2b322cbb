// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import Testing

struct ASCIITests {
  @Test func eachByteIsWhatItsCharacterIs() {
    for byte in UInt8.min ... .max {
      let character = Character(Unicode.Scalar(byte))
      let (isLetter, isDigit) = (byte < 0x80 && character.isLetter, byte < 0x80 && character.isNumber)
      #expect(byte.isDigit == isDigit)
      #expect(byte.isSmallLetterOrDigit(or: "") == (isDigit || isLetter && character.isLowercase))
      #expect(byte.isLetterOrDigit(or: "") == (isDigit || isLetter))
      #expect(byte.isLetterOrDigit(or: "-_") == (isDigit || isLetter || byte == 0x2D || byte == 0x5F))
    }
  }
}
