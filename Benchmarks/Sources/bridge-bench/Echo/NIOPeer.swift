// SPDX-License-Identifier: Apache-2.0

import AccessoryProtocols
import CFloor
import FamilyAF1
import NIOCore
import NIOPosix

/// The same exchange over a SwiftNIO pipe channel with the same codec.
struct NIOPeer {
  /// Who makes the next request.
  enum Asker {
    /// The channel handler, on the event loop, when it has the reply: the shortest way.
    case inTheHandler
    /// A task, which is resumed with the reply: how programs use a link.
    case fromATask
  }

  private let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)

  func stop() async throws { try await group.shutdownGracefully() }

  /// The time of each request, in nanoseconds. The terminal's `descriptor` belongs to NIO from now on.
  func times(of count: Int, payload: [UInt8], on descriptor: CInt, asking asker: Asker) async throws -> [Int64] {
    let channel = try await NIOPipeBootstrap(group: group)
      .channelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          try channel.pipeline.syncOperations.addHandler(NIOEchoHandler(payload: payload))
        }
      }
      .takingOwnershipOfDescriptor(inputOutput: descriptor).get()
    let handler = try await channel.eventLoop.submit {
      NIOLoopBound(try channel.pipeline.syncOperations.handler(type: NIOEchoHandler.self), eventLoop: channel.eventLoop)
    }.get()
    func ask(_ count: Int) async throws(Failure) -> [Int64] {
      try await withCheckedContinuation { continuation in
        channel.eventLoop.execute { handler.value.ask(count, continuation) }
      }.get()
    }
    let times: [Int64]
    switch asker {
    case .inTheHandler: times = try await ask(count)
    case .fromATask:
      var each: [Int64] = []
      each.reserveCapacity(count)
      for _ in 0..<count {
        let start = cfloor_now()
        _ = try await ask(1)
        each.append(cfloor_now() - start)
      }
      times = each
    }
    try await channel.close()
    return times
  }
}

/// Asks and checks the replies, on the event loop.
private final class NIOEchoHandler: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer
  typealias Waiting = CheckedContinuation<Result<[Int64], Failure>, Never>

  private let payload: [UInt8]
  private var codec = AF1Codec(maximumPayload: 4_096)
  private var batch = FrameBatch<AF1Header>()
  private var frame: [UInt8] = []
  private var number: UInt16 = 0
  private var start: Int64 = 0
  private var times: [Int64] = []
  private var left = 0
  private var waiting: Waiting?
  private var context: ChannelHandlerContext?

  init(payload: [UInt8]) { self.payload = payload }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) { self.context = nil }

  /// Makes `count` requests, one at a time.
  func ask(_ count: Int, _ waiting: Waiting) {
    self.waiting = waiting
    left = count
    times.removeAll(keepingCapacity: true)
    times.reserveCapacity(count)
    send()
  }

  private func send() {
    guard let context else { return finish(.failure(Failure("the channel is gone"))) }
    start = cfloor_now()
    frame.removeAll(keepingCapacity: true)
    try? codec.encode(.request(.echo, number: number), payload: payload, into: &frame)
    var bytes = context.channel.allocator.buffer(capacity: frame.count)
    bytes.writeBytes(frame)
    context.writeAndFlush(wrapOutboundOut(bytes), promise: nil)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    codec.decode(bytes.readableBytesSpan, into: &batch)
    defer { batch.removeAll() }
    for index in 0..<batch.count {
      guard batch.header(at: index).number == number, batch.payloadBytes(at: index) == payload else {
        return finish(.failure(Failure("the device echoed something else")))
      }
      times.append(cfloor_now() - start)
      number &+= 1
      left -= 1
      if left == 0 { finish(.success(times)) } else { send() }
    }
  }

  func channelInactive(context: ChannelHandlerContext) { finish(.failure(Failure("the device is gone"))) }

  func errorCaught(context: ChannelHandlerContext, error: any Error) { finish(.failure(Failure("\(error)"))) }

  private func finish(_ result: Result<[Int64], Failure>) {
    waiting?.resume(returning: result)
    waiting = nil
  }
}
