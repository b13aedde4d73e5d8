import Dispatch
import Glibc
import Synchronization

/// Work on many files in parallel whose results are taken one by one, in the order of the files.
///
/// The only concurrency of the program. Each job feeds a queue of its own that holds a few results
/// at most, so that memory stays bounded however far the writer falls behind; the order in which
/// results are taken never depends on timing.
struct Workers {
  let count: Int

  /// Runs `work` on each of `inputs` in up to `count` threads and hands every result to `take`.
  ///
  /// - Parameters:
  ///   - work: makes results and passes each to the function it is given, which answers false
  ///     when the rest is no longer wanted.
  ///   - take: called on this thread, in the order of `inputs`.
  func run<Input: Sendable, Output: Sendable>(
    _ inputs: [Input],
    _ work: @escaping @Sendable (Input, (Output) -> Bool) -> Void,
    take: (Int, Output) throws -> Void
  ) throws {
    let queues = inputs.map { _ in ResultQueue<Output>(capacity: 4) }
    let next = Mutex(0)
    let sharedInputs = inputs
    let claim: @Sendable () -> Int? = {
      next.withLock { position in
        guard position < sharedInputs.count else { return nil }
        position += 1
        return position - 1
      }
    }
    var threads: [WorkerThread] = []
    while threads.count < min(count, inputs.count) {
      let thread = WorkerThread {
        while let index = claim() {
          work(sharedInputs[index]) { queues[index].put($0) }
          queues[index].finish()
        }
      }
      guard let thread else { break }
      threads.append(thread)
    }
    // A system without a thread to spare makes the night slower and no different.
    if threads.isEmpty { return try runHere(inputs, work, take: take) }
    defer {
      for queue in queues { queue.cancel() }
      for thread in threads { thread.join() }
    }
    for index in inputs.indices {
      while let output = queues[index].take() { try take(index, output) }
    }
  }

  private func runHere<Input: Sendable, Output: Sendable>(
    _ inputs: [Input], _ work: (Input, (Output) -> Bool) -> Void, take: (Int, Output) throws -> Void
  ) throws {
    try withoutActuallyEscaping(take) { take in
      for (index, input) in inputs.enumerated() {
        var failure: (any Error)?
        work(input) { output in
          guard failure == nil else { return false }
          do { try take(index, output) } catch { failure = error }
          return failure == nil
        }
        if let failure { throw failure }
      }
    }
  }
}

/// A thread of the system.
///
/// Dispatch waits for ever when the system has no more threads; this says so.
private struct WorkerThread {
  private final class Body: Sendable {
    let run: @Sendable () -> Void

    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
  }

  private let thread: pthread_t

  /// Starts `run` in a thread of its own; nil when there is none to be had.
  init?(_ run: @escaping @Sendable () -> Void) {
    let body = Unmanaged.passRetained(Body(run))
    var thread = pthread_t()
    let failure = pthread_create(
      &thread, nil,
      { pointer in
        if let pointer { Unmanaged<Body>.fromOpaque(pointer).takeRetainedValue().run() }
        return nil
      }, body.toOpaque())
    guard failure == 0 else {
      body.release()
      return nil
    }
    self.thread = thread
  }

  /// Waits until the thread has ended; to be called once.
  func join() { pthread_join(thread, nil) }
}

/// A queue between one worker and the writer that holds at most `capacity` results.
private final class ResultQueue<Element: Sendable>: Sendable {
  private struct State {
    var elements: [Element] = []
    var isFinished = false
    var isCanceled = false
  }

  private let state = Mutex(State())
  private let places: DispatchSemaphore
  private let filled = DispatchSemaphore(value: 0)

  init(capacity: Int) { places = DispatchSemaphore(value: capacity) }

  /// Waits for a free place; false when nobody will take the element any more.
  func put(_ element: Element) -> Bool {
    places.wait()
    let isCanceled = state.withLock { state in
      if !state.isCanceled { state.elements.append(element) }
      return state.isCanceled
    }
    if isCanceled { places.signal() } else { filled.signal() }
    return !isCanceled
  }

  func finish() {
    state.withLock { $0.isFinished = true }
    filled.signal()
  }

  /// Waits for an element; nil when the worker has finished and all were taken.
  func take() -> Element? {
    filled.wait()
    let element = state.withLock { $0.elements.isEmpty ? nil : $0.elements.removeFirst() }
    if element != nil { places.signal() } else { filled.signal() }
    return element
  }

  /// Lets a waiting worker go on to its end.
  func cancel() {
    let waiting = state.withLock { state in
      state.isCanceled = true
      let count = state.elements.count
      state.elements = []
      return count
    }
    for _ in 0...waiting { places.signal() }
  }
}
