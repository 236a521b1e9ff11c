import type { Duplex } from 'node:stream';
import { StorageError, type StorageErrorCode } from '../storage/storage-error.js';
import { FrameReader, type FrameBody } from './frame-reader.js';
import { FrameWriter } from './frame-writer.js';

/** Writes the body of a frame. */
export type Write = (frame: FrameWriter) => void;

/** Answers a call of the other process; the result writes the answer. */
type CallHandler = (body: FrameBody, call: number) => Promise<Write> | Write;

/** Takes a message that has no answer. */
type MessageHandler = (body: FrameBody, call: number) => void;

interface PendingCall {
  resolve(body: FrameBody): void;
  reject(error: Error): void;
}

/** Kinds of frames that answer a call. All others are of the handlers. */
const answered = 0;
const failed = 1;

const calls = 2 ** 32;

/** Calls and messages between two processes, in both directions, over one stream. Messages keep their order. */
export class Channel {
  readonly writer: FrameWriter;
  private readonly handlers = new Map<number, CallHandler>();
  private readonly takers = new Map<number, MessageHandler>();
  private readonly pending = new Map<number, PendingCall>();
  private lastCall = 0;
  private closedBy: Error | undefined;
  private readonly closeListeners: ((reason: Error) => void)[] = [];

  constructor(private readonly stream: Duplex) {
    this.writer = new FrameWriter(stream);
    const reader = new FrameReader((kind, call, body) => this.receive(kind, call, body));
    stream.on('data', (chunk: Buffer) => reader.push(chunk));
    stream.on('error', (error) => this.closed(error));
    stream.on('close', () => this.closed(new Error('the other process has ended')));
  }

  /** Answers calls of a kind. */
  answer(kind: number, handler: CallHandler): void {
    this.handlers.set(kind, handler);
  }

  /** Takes messages of a kind. */
  take(kind: number, handler: MessageHandler): void {
    this.takers.set(kind, handler);
  }

  onClose(listener: (reason: Error) => void): void {
    if (this.closedBy) listener(this.closedBy);
    else this.closeListeners.push(listener);
  }

  /** Returns a number that no other call has. */
  nextCall(): number {
    return (this.lastCall = (this.lastCall + 1) % calls);
  }

  /** Calls the other process. Rejects with its StorageError, or 'unavailable' if it ends. */
  call(kind: number, write: Write): Promise<FrameBody> {
    if (this.closedBy) return Promise.reject(unavailable(this.closedBy));
    const call = this.nextCall();
    return new Promise((resolve, reject) => {
      this.pending.set(call, { resolve, reject });
      this.send(kind, call, write);
    });
  }

  send(kind: number, call: number, write?: Write): void {
    if (this.closedBy) return;
    const frame = this.writer.begin(kind, call);
    write?.(frame);
    frame.end();
  }

  close(): void {
    this.writer.flush();
    this.stream.destroy();
  }

  private receive(kind: number, call: number, body: FrameBody): void {
    if (kind === answered || kind === failed) {
      const pending = this.pending.get(call);
      this.pending.delete(call);
      if (kind === answered) pending?.resolve(body);
      else pending?.reject(readError(body));
      return;
    }
    const taker = this.takers.get(kind);
    if (taker) return taker(body, call);
    const handler = this.handlers.get(kind);
    if (handler) void this.answerCall(handler, body, call);
  }

  private async answerCall(handler: CallHandler, body: FrameBody, call: number): Promise<void> {
    try {
      const result = handler(body, call);
      this.send(answered, call, result instanceof Promise ? await result : result);
    } catch (error) {
      this.send(failed, call, (frame) => writeError(frame, error));
    }
  }

  private closed(reason: Error): void {
    if (this.closedBy) return;
    this.closedBy = reason;
    const error = unavailable(reason);
    for (const pending of this.pending.values()) pending.reject(error);
    this.pending.clear();
    for (const listener of this.closeListeners) listener(reason);
  }
}

function unavailable(cause: Error): StorageError {
  return new StorageError('unavailable', 'the process with the store does not answer', { cause });
}

/** Writes an error. Only errors of the store keep their code. */
export function writeError(frame: FrameWriter, error: unknown): void {
  const code = error instanceof StorageError ? error.code : '';
  frame.text(code).text(error instanceof Error ? error.message : String(error));
}

export function readError(body: FrameBody): Error {
  const code = body.text();
  const message = body.text();
  return code === '' ? new Error(message) : new StorageError(code as StorageErrorCode, message);
}
