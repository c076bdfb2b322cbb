// SPDX-License-Identifier: Apache-2.0

extension HeaderFormat {
  /// Checks that frames can have this format, with payloads of up to `maximumPayload` bytes.
  ///
  /// - Throws: An error for the first parameter that is wrong, which is named as a path such as `length.byteCount`.
  public func validate(maximumPayload: Int) throws(FramingParameterError) {
    try FramingLimits.check(maximumPayload: maximumPayload)
    guard (1...4).contains(sync.count) else { throw FramingParameterError("sync", "must be 1 to 4 bytes") }
    guard (sync.count...HeaderBytes.capacity).contains(headerByteCount) else {
      throw FramingParameterError("headerByteCount", "must be \(sync.count) to \(HeaderBytes.capacity)")
    }
    guard (1...4).contains(length.byteCount) else { throw FramingParameterError("length.byteCount", "must be 1 to 4") }
    guard (-65536...65536).contains(length.bias) else {
      throw FramingParameterError("length.bias", "must be -65536 to 65536")
    }
    let lengthRange = try field("length.offset", length.offset, length.byteCount)
    if let version {
      _ = try field("version.offset", version.offset, 1)
    }
    var headerCheckRange = 0..<0
    if let headerChecksum {
      headerCheckRange = try field("headerChecksum.offset", headerChecksum.offset, headerChecksum.checksum.byteCount)
      try distinct("headerChecksum.offset", headerCheckRange, from: lengthRange)
      try covered("headerChecksum.covers", headerChecksum.covers, without: headerCheckRange)
      guard lengthRange.clamped(to: headerChecksum.covers) == lengthRange else {
        throw FramingParameterError("headerChecksum.covers", "must include the length")
      }
    }
    if let payloadChecksum {
      var own = 0..<0
      if case .inHeader(let offset) = payloadChecksum.position {
        own = try field("payloadChecksum.position", offset, payloadChecksum.checksum.byteCount)
        try distinct("payloadChecksum.position", own, from: lengthRange)
        try distinct("payloadChecksum.position", own, from: headerCheckRange)
        // If each of the two checksums covered the other, neither could be computed first.
        try distinct("payloadChecksum.coveredHeader", payloadChecksum.coveredHeader, from: headerCheckRange)
      }
      try covered("payloadChecksum.coveredHeader", payloadChecksum.coveredHeader, without: own)
    }
    guard let field = lengthValue(payload: maximumPayload), field >> (8 * length.byteCount) == 0 else {
      throw FramingParameterError("maximumPayload", "must fit into the length field")
    }
  }

  /// The range of a field, which must be within the header and behind the sync bytes.
  private func field(_ name: String, _ offset: Int, _ byteCount: Int) throws(FramingParameterError) -> Range<Int> {
    guard offset >= sync.count, offset <= headerByteCount - byteCount else {
      throw FramingParameterError(name, "must lie behind the sync bytes and within the header")
    }
    return offset..<(offset + byteCount)
  }

  private func distinct(
    _ name: String, _ range: Range<Int>, from other: Range<Int>
  ) throws(FramingParameterError) {
    if range.overlaps(other) { throw FramingParameterError(name, "must not overlap another field") }
  }

  private func covered(
    _ name: String, _ range: Range<Int>, without own: Range<Int>
  ) throws(FramingParameterError) {
    guard range.isEmpty || range.lowerBound >= 0 && range.upperBound <= headerByteCount else {
      throw FramingParameterError(name, "must lie within the header")
    }
    if range.overlaps(own) { throw FramingParameterError(name, "must not include the checksum itself") }
  }
}

extension HeaderFormat {
  /// How many bytes follow a payload of this length.
  @inline(__always)
  func trailerByteCount(payload: Int) -> Int {
    guard let payloadChecksum, payloadChecksum.position == .behindPayload else { return 0 }
    return payload > 0 || payloadChecksum.isPresentIfEmpty ? payloadChecksum.checksum.byteCount : 0
  }

  /// The value of the length field for a payload of this length; `nil` if it would be negative.
  func lengthValue(payload: Int) -> Int? {
    let counted =
      switch length.counts {
      case .payload: payload
      case .payloadAndTrailer: payload + trailerByteCount(payload: payload)
      case .frame: headerByteCount + payload + trailerByteCount(payload: payload)
      }
    return counted < length.bias ? nil : counted - length.bias
  }

  /// The length of the payload for this value of the length field; `nil` if no frame can have that value.
  func payloadByteCount(lengthValue value: Int) -> Int? {
    var counted = value + length.bias
    if length.counts == .frame { counted -= headerByteCount }
    if counted < 0 { return nil }
    if length.counts == .payload { return counted }
    if counted == trailerByteCount(payload: 0) { return 0 }
    let payload = counted - trailerByteCount(payload: 1)
    return payload > 0 ? payload : nil
  }

  /// The shortest payload that the length field can express, in bytes.
  var minimumPayload: Int {
    if lengthValue(payload: 0) != nil { return 0 }
    let header = length.counts == .frame ? headerByteCount : 0
    let trailer = length.counts == .payload ? 0 : trailerByteCount(payload: 1)
    return max(1, length.bias - header - trailer)
  }
}
