// SPDX-License-Identifier: Apache-2.0

import AccessoryCore
import AccessoryDescriptions
import AccessoryProtocols

extension DescribedExchange {
  /// Handles a frame: a reply or a part of one, a refusal, an event, or an unexpected frame.
  public mutating func receive(
    _ batch: FrameBatch<DescribedHeader>, at index: Int, now: MonotonicTime, effects: inout Effects<Reply, Event>
  ) {
    guard batch.outcome(at: index) == .whole else { return }  // counted by the codec
    let content = batch.payloadStore.span.bytes.extracting(batch.payloadRange(at: index))
    var header = batch.header(at: index)
    if header.isStray {
      counters.lateReplies += 1
      return
    }
    if let attempt, let echo = echoedByteCount(attempt, header, content) {
      header.body = (header.body.lowerBound + echo)..<header.body.upperBound
    }
    if let waiting = attempt {
      let request = description.requests[waiting.request.index]
      let isItsOwn = hasSameElements(waiting.request, request, header, content)
      // Checked first: a refusal may look like a reply whose fields can't be read.
      if isItsOwn, let message = refusal(of: request, header, content) {
        counters.replies += 1
        counters.refusals += 1
        if retriesRefused(waiting, now: now, effects: &effects) { return }
        return finish(.failure(refusal(message, header, content)), now: now, effects: &effects)
      }
      if isItsOwn, let reply = request.reply, decoder.fits(reply, header, content, part: waiting.request.part) {
        return take(reply, header, content, now: now, effects: &effects)
      }
    }
    if attempt == nil { noteLateAnswer(header, content) }
    guard let message = decoder.message(header, content) else {
      counters.unexpected += 1
      stranger = decoder.numbers(header, content)
      return
    }
    guard description.messages[message].isPushed else {
      counters.lateReplies += 1
      return
    }
    tell(decode(message, header, content), &effects)
  }

  private mutating func noteLateAnswer(_ header: DescribedHeader, _ content: RawSpan) {
    guard description.modbus != nil else {
      let unit = decoder.unit(header, content)
      guard let request = lateAnswers.request(unit: unit).map({ description.requests[$0] }) else { return }
      let isReply = request.reply.map { decoder.fits($0, header, content) } ?? false
      if isReply || refusal(of: request, header, content) != nil { lateAnswers.take(unit: unit) }
      return
    }
    guard let unit = decoder.number(0, header, content).flatMap({ UInt8(exactly: $0) }),
      let function = decoder.number(1, header, content).flatMap({ UInt8(exactly: $0) })
    else { return }
    lateAnswers.take(unit: unit, function: function)
  }

  /// Whether a frame isn't the message that it was decoded as: the message has several columns, and none can be read.
  private func isOther(_ decoded: DecodedMessage) -> Bool {
    guard case .columns(let columns) = description.messages[decoded.message].body, columns.columns.count > 1 else {
      return false
    }
    return decoded.problemCount > 0 && decoded.values.allSatisfy { $0.value == .nothing }
  }

  private mutating func decode(
    _ message: Int, _ header: DescribedHeader, _ content: RawSpan, part: ProtocolDescription.RegisterBlock? = nil
  ) -> DecodedMessage {
    let unit = decoder.unit(header, content)
    let decoded = decoder.decode(message, header, content, known: known[unit] ?? [:], part: part)
    unreadable[unit, default: 0] &+= UInt64(decoded.problemCount)
    // The size of `known` is bounded by the numbers of fields and units that the description allows.
    for value in decoded.values { if let raw = value.raw { known[unit, default: [:]][value.name] = raw } }
    return decoded
  }

  /// How many bytes at the start of the body repeat the request, because the accessory echoes it in front of its reply.
  private func echoedByteCount(_ attempt: Attempt, _ header: DescribedHeader, _ content: RawSpan) -> Int? {
    let request = description.requests[attempt.request.index]
    let bytes = attempt.request.bytes
    guard request.isEchoed else { return nil }
    // The body may start with line ends of an earlier reply.
    var body = header.body
    while let first = body.first, content.unsafeLoad(fromByteOffset: first, as: UInt8.self).isBlank {
      body = (first + 1)..<body.upperBound
    }
    // The beginning of the echo may be lost. A single byte isn't enough to recognize it.
    let count = (2...max(2, bytes.count)).last { count in
      count <= min(bytes.count, body.count) && content.extracting(body).starts(with: bytes.suffix(count))
    }
    return count.map { body.lowerBound - header.body.lowerBound + $0 }
  }

  private func hasSameElements(
    _ sent: DescribedRequest, _ request: ProtocolDescription.Request, _ header: DescribedHeader, _ content: RawSpan
  ) -> Bool {
    // A frame of another unit is never the reply.
    if let unit = decoder.unit(header, content), unit != sent.unit { return false }
    guard let reply = request.reply, description.messages[reply].hasFraming(header.framing) else {
      // A refusal may have another framing, without the elements.
      return true
    }
    return request.echoes.allSatisfy { echo in
      guard let number = decoder.number(echo.reply, header, content) else { return false }
      return number == sent.elements[echo.request] ?? 0
    }
  }

  /// The index of the message with which a frame refuses the request, nil if the frame is no refusal. The request's
  /// description may name its refusals; if it names none, every refusal counts.
  private func refusal(
    of request: ProtocolDescription.Request, _ header: DescribedHeader, _ content: RawSpan
  ) -> Int? {
    if !request.refusals.isEmpty { return request.refusals.first { decoder.fits($0, header, content) } }
    return description.messages.indices.first {
      description.messages[$0].isRefusal && decoder.fits($0, header, content)
    }
  }

  private func refusal(_ message: Int, _ header: DescribedHeader, _ content: RawSpan) -> AccessoryError {
    let described = description.messages[message]
    let name = attempt?.request.name ?? "a request"
    let number = described.refusalReason.flatMap { decoder.number($0, header, content) }
    let words = number.flatMap { described.refusalWords[$0] }
    let reason =
      switch (words, number) {
      case (let words?, _): ": \(words)"
      case (nil, let number?): ", with the number \(number)"
      case (nil, nil): ""
      }
    return AccessoryError(
      .refused, code: number.flatMap { UInt8(exactly: $0) }.map { .refusal($0) },
      "\(label(of: attempt?.request.unit)) refuses \(name)\(reason)")
  }

  // MARK: - Replies in pieces

  private mutating func take(
    _ message: Int, _ header: DescribedHeader, _ content: RawSpan, now: MonotonicTime,
    effects: inout Effects<Reply, Event>
  ) {
    let decoded = decode(message, header, content, part: attempt?.request.part)
    if isOther(decoded) {
      counters.unexpected += 1
      return
    }
    guard let pieces = description.messages[message].pieces else {
      counters.replies += 1
      return finish(.success(decoded), now: now, effects: &effects)
    }
    guard let number = decoded[pieces.index]?.raw,
      (0..<ProtocolDescription.Limit.repetitions).contains(number - pieces.first)
    else {
      counters.unexpected += 1
      return
    }
    attempt?.pieces[number - pieces.first] = decoded
    if let field = pieces.count, let things = known[decoded.unit]?[field],
      (0...ProtocolDescription.Limit.values).contains(things)
    {
      let count = (things + pieces.each - 1) / max(1, pieces.each)
      attempt?.pieceCount = count
      guard let waiting = attempt else { return }
      if (0..<count).allSatisfy({ waiting.pieces[$0] != nil }) { return complete(now: now, effects: &effects) }
      // Each piece restarts the timeout for the next one.
      let deadline = now + replyTimeout(for: waiting.request)
      attempt?.deadline = deadline
    } else {
      let deadline = now + .nanoseconds(pieces.silence) + timing.silence
      attempt?.deadline = deadline
    }
  }

  /// Joins the pieces of a reply. Lists are joined in the order of the pieces' numbers; of any other field, the last
  /// value counts.
  mutating func complete(now: MonotonicTime, effects: inout Effects<Reply, Event>) {
    guard let waiting = attempt, let first = waiting.pieces.values.first else { return }
    var joined = DecodedMessage(message: first.message)
    for number in waiting.pieces.keys.sorted() {
      if let piece = waiting.pieces[number] { joined.join(piece) }
    }
    if let field = description.messages[first.message].pieces?.count, let things = known[first.unit]?[field] {
      joined.cutLists(to: things)
    }
    counters.replies += 1
    finish(.success(joined), now: now, effects: &effects)
  }
}
