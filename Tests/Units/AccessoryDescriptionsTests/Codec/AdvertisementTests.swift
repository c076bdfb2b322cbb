// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import TestSupport
import Testing

@testable import AccessoryDescriptions
@testable import AccessoryProtocols

/// What devices advertise, encrypted, and whether it is new.
@Suite struct AdvertisementTests {
  private static func bytes(_ text: String) -> [UInt8] { Hexadecimal.bytes(text)! }

  // MARK: - AES

  /// FIPS 197, appendices B and C.1.
  @Test(arguments: [
    (
      "2b7e151628aed2a6abf7158809cf4f3c", "3243f6a8885a308d313198a2e0370734", "3925841d02dc09fbdc118597196a0b32"
    ),
    (
      "000102030405060708090a0b0c0d0e0f", "00112233445566778899aabbccddeeff", "69c4e0d86a7b0430d8cdb78070b4c55a"
    ),
  ]) func aBlockIsEncryptedAsTheStandardDoes(key: String, plain: String, encrypted: String) throws {
    let cipher = try #require(AES128(key: Self.bytes(key)))
    #expect(Hexadecimal.string(cipher.encrypted(Self.bytes(plain))) == encrypted)
  }

  /// NIST SP 800-38A, F.5.1: the first block, whose counter is given as a whole.
  @Test func counterModeAsTheStandardDoes() throws {
    let cipher = try #require(AES128(key: Self.bytes("2b7e151628aed2a6abf7158809cf4f3c")))
    let counter = Self.bytes("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff")
    let plain = Self.bytes("6bc1bee22e409f96e93d7e117393172a")
    #expect(Hexadecimal.string(cipher.counterMode(plain, nonce: counter)) == "874d6191b620e3261bef6864990db6ce")
  }

  /// Each block has a counter of its own, whose last byte is the number of the block.
  @Test func blocksAreCounted() throws {
    let cipher = try #require(AES128(key: [UInt8](repeating: 7, count: 16)))
    let pad = cipher.counterMode([UInt8](repeating: 0, count: 40), nonce: [1, 2])
    for block in 0..<3 {
      let counter: [UInt8] = [1, 2] + [UInt8](repeating: 0, count: 13) + [UInt8(block)]
      #expect(
        Array(pad.dropFirst(16 * block).prefix(16)) == Array(cipher.encrypted(counter).prefix(block < 2 ? 16 : 8)))
    }
  }

  @Test(arguments: [0, 15, 17, 32]) func aKeyHas16Bytes(count: Int) {
    #expect(AES128(key: [UInt8](repeating: 1, count: count)) == nil)
  }

  // MARK: - News

  private static let victron: ProtocolDescription.Advertisement = {
    var advertisement = ProtocolDescription.Advertisement(manufacturer: 0x02E1)
    advertisement.beginning = [0x10]
    advertisement.encryption = .init(nonce: 5...6, keyByte: 7, begin: 8)
    return advertisement
  }()
  private static let key = bytes("aff4d0995b7d1e176c0c33ecb9e70dcd")
  private static let shunt = bytes("100289a302b040af925d09a4d89aa0128bdef48c6298a9")
  private static let clear = bytes("ffe10217100289a302b040afffffe50400000000030000f40140df")

  private static func second(_ number: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: number * 1_000_000_000) }

  /// The same data with another nonce.
  private static func shunt(_ nonce: UInt16, firstOfKey: UInt8 = 0xAF) -> [UInt8] {
    var data = shunt
    (data[5], data[6], data[7]) = (UInt8(nonce & 0xFF), UInt8(nonce >> 8), firstOfKey)
    return data
  }

  @Test func aShuntsDataAreDecrypted() throws {
    var reader = try #require(AdvertisementReader(Self.victron, key: Self.key))
    #expect(try reader.frame(of: Self.shunt, at: Self.second(1)) == Self.clear)
  }

  @Test func whatWasThereBeforeIsNoNews() throws {
    var reader = try #require(AdvertisementReader(Self.victron, key: Self.key))
    #expect(try reader.frame(of: Self.shunt(0x0100), at: Self.second(1)) != nil)
    #expect(try reader.frame(of: Self.shunt(0x0100), at: Self.second(2)) == nil)
    // The same, however late.
    #expect(try reader.frame(of: Self.shunt(0x0100), at: Self.second(60)) == nil)
    #expect(try reader.frame(of: Self.shunt(0x0101), at: Self.second(61)) != nil)
    // Older ones are of earlier.
    for old: UInt16 in [0x0100, 0x00FF, 0xFFFF, 0x8102] {
      #expect(try reader.frame(of: Self.shunt(old), at: Self.second(62)) == nil, "\(old)")
    }
    // The device was off, and counts from 0 on.
    #expect(try reader.frame(of: Self.shunt(1), at: Self.second(72)) != nil)
  }

  @Test func noncesGoOnFromTheirEnd() throws {
    var reader = try #require(AdvertisementReader(Self.victron, key: Self.key))
    for (place, nonce): (Int, UInt16) in [0xFFFE, 0xFFFF, 0, 1, 0x7FFF, 0xFFFE].enumerated() {
      #expect(try reader.frame(of: Self.shunt(nonce), at: Self.second(Int64(place))) != nil, "\(nonce)")
    }
  }

  /// A single packet with another key ends nothing: anybody can send it.
  @Test func aWrongKeyIsTold() throws {
    var wrong = try #require(AdvertisementReader(Self.victron, key: Self.bytes("0df4d0395b7d1a876c0c33ecb9e70dcd")))
    for second: Int64 in [1, 3, 5] { #expect(try wrong.frame(of: Self.shunt, at: Self.second(second)) == nil) }
    #expect(throws: AdvertisementReader.Failure.otherKey(0xAF)) { try wrong.frame(of: Self.shunt, at: Self.second(6)) }
    var reader = try #require(AdvertisementReader(Self.victron, key: Self.key))
    #expect(try reader.frame(of: Self.shunt(1), at: Self.second(1)) != nil)
    #expect(try reader.frame(of: Self.shunt(2, firstOfKey: 0), at: Self.second(2)) == nil)
    #expect(try reader.frame(of: Self.shunt(3), at: Self.second(3)) != nil)
    // The device is silent, and one of another key is heard in its place: for a while it may come back.
    for second: Int64 in [14, 18] {
      #expect(try reader.frame(of: Self.shunt(4, firstOfKey: 0), at: Self.second(second)) == nil)
    }
    #expect(throws: AdvertisementReader.Failure.otherKey(0)) {
      try reader.frame(of: Self.shunt(4, firstOfKey: 0), at: Self.second(19))
    }
  }

  /// A forged packet that comes first ends nothing, nor do many, as long as the device is heard among them.
  @Test func aForgedPacketThatComesFirstEndsNothing() throws {
    var reader = try #require(AdvertisementReader(Self.victron, key: Self.key))
    for second: Int64 in 1...40 {
      #expect(try reader.frame(of: Self.shunt(9, firstOfKey: 0), at: Self.second(second)) == nil)
      guard second % 4 == 0 else { continue }
      #expect(try reader.frame(of: Self.shunt(UInt16(second)), at: Self.second(second)) != nil)
    }
  }

  @Test func whatIsCutOrOfAnotherKindIsNotRead() throws {
    for count in 0..<Self.shunt.count {
      var reader = try #require(AdvertisementReader(Self.victron, key: Self.key))
      let cut = Array(Self.shunt.prefix(count))
      if count == 0 {
        #expect(try reader.frame(of: cut, at: Self.second(1)) == nil)
      } else if count <= 8 {
        #expect(throws: AdvertisementReader.Failure.cut) { try reader.frame(of: cut, at: Self.second(1)) }
      } else {
        #expect(try reader.frame(of: cut, at: Self.second(1))?.count == count + 4)
      }
    }
    var reader = try #require(AdvertisementReader(Self.victron, key: Self.key))
    #expect(try reader.frame(of: [0x11] + Self.shunt.dropFirst(), at: Self.second(1)) == nil)
    #expect(try reader.frame(of: [0x10] + [UInt8](repeating: 0, count: 255), at: Self.second(1)) == nil)
    #expect(AdvertisementReader(Self.victron, key: nil) == nil)
  }
}
