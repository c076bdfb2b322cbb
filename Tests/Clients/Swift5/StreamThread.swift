// SPDX-License-Identifier: Apache-2.0

import ExternalAccessory

/// Tells of a stream's events through closures.
class StreamEventHandler: NSObject, StreamDelegate {
  var onBytes: ((InputStream) -> Void)?
  var onSpace: ((OutputStream) -> Void)?
  var onEnd: ((Stream) -> Void)?

  func stream(_ stream: Stream, handle event: Stream.Event) {
    switch event {
    case .hasBytesAvailable: onBytes?(stream as! InputStream)
    case .hasSpaceAvailable: onSpace?(stream as! OutputStream)
    case .endEncountered, .errorOccurred: onEnd?(stream)
    default: break
    }
  }
}

/// Habits: a thread of its own that pumps its run loop a quarter of a second at a time, the streams' delegates are other
/// objects, input closed first, both removed from the current run loop, then the session let go, all on that thread.
class StreamThread: NSObject {
  private var thread: Thread?
  private var session: EASession?
  private let handler = StreamEventHandler()
  private let lock = NSLock()
  private var queue: [UInt8] = []
  private let ended = DispatchSemaphore(value: 0)
  var onReceived: (([UInt8]) -> Void)?

  func start(_ accessory: EAAccessory) -> Bool {
    session = EASession(accessory: accessory, forProtocol: framed)
    guard session != nil else { return false }
    handler.onBytes = { [weak self] stream in
      var buffer = [UInt8](repeating: 0, count: 1_024)
      while stream.hasBytesAvailable {
        let count = stream.read(&buffer, maxLength: buffer.count)
        if count < 1 { break }
        self?.onReceived?(Array(buffer[0..<count]))
      }
    }
    handler.onSpace = { [weak self] _ in self?.dequeue() }
    handler.onEnd = { [weak self] _ in self?.thread?.cancel() }
    thread = Thread { self.main() }
    thread!.name = "com.example.streams"
    thread!.start()
    return true
  }

  private func main() {
    for stream in [session!.inputStream! as Stream, session!.outputStream!] {
      stream.delegate = handler
      stream.schedule(in: .current, forMode: .default)
      stream.open()
    }
    while !thread!.isCancelled { _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.25)) }
    for stream in [session!.inputStream! as Stream, session!.outputStream!] {
      stream.close()
      stream.remove(from: .current, forMode: .default)
      stream.delegate = nil
    }
    session = nil
    ended.signal()
  }

  func send(_ bytes: [UInt8]) {
    lock.lock()
    queue += bytes
    lock.unlock()
    dequeue()
  }

  private func dequeue() {
    lock.lock()
    defer { lock.unlock() }
    guard let output = session?.outputStream, !queue.isEmpty, output.hasSpaceAvailable else { return }
    let written = output.write(queue, maxLength: queue.count)
    if written > 0 { queue.removeFirst(written) }
  }

  func stop() {
    thread?.cancel()
    ended.wait()
  }
}

func runThreadClient() {
  guard let accessory = EAAccessoryManager.shared().connectedAccessories.first else { exit(66) }
  let streams = StreamThread()
  let done = DispatchSemaphore(value: 0)
  var received: [UInt8] = []
  var answer: [UInt8]?
  streams.onReceived = { bytes in
    received += bytes
    guard answer == nil, let bytes = reply(in: received) else { return }
    answer = bytes
    done.signal()
  }
  guard streams.start(accessory) else { exit(69) }
  streams.send(batteryRequest)
  done.wait()
  streams.stop()
  show(answer!)
  exit(0)
}
