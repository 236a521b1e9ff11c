import { constants, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2';
import {
  errorOfHttpStatus,
  errorOfReset,
  errorOfTrailers,
  GrpcError,
  grpcStatus,
  MalformedMessageError,
} from './grpc-error.js';
import { MessageFrames } from './message-frames.js';

export interface CallListener {
  message(bytes: Buffer): void;
  /**
   * Called once, as the last call. The error is a GrpcError, or a NotConnectedError if the server did not process the
   * call.
   */
  closed(error: Error | undefined): void;
}

/** The listener of a call that is over. */
const noListener: CallListener = { message: () => undefined, closed: () => undefined };

/**
 * One call on one HTTP/2 stream. It ends when both trailers and end of data have arrived, in either order, or with the
 * first error.
 *
 * Node may keep a stream for a while after its end, with all that the stream refers to, so a call that is over refers to
 * nothing of its caller.
 */
export class Http2Call {
  private isOver = false;
  private hasTrailers = false;
  private hasEnded = false;
  private status: GrpcError | undefined;
  private readonly frames: MessageFrames;

  constructor(
    private readonly stream: ClientHttp2Stream,
    private listener: CallListener,
    /** Returns the error of the connection if it was lost. */
    private readonly lossOfConnection: () => GrpcError | undefined,
    private readonly over: (call: Http2Call) => void,
    readonly deadlineMs: number,
    messageBytesMax?: number,
  ) {
    this.frames = new MessageFrames((message) => {
      if (!this.isOver) this.listener.message(message);
    }, messageBytesMax);
    stream.on('response', (headers) => this.responded(headers));
    stream.on('data', (chunk: Buffer) => this.received(chunk));
    stream.on('trailers', (trailers) => {
      this.hasTrailers = true;
      this.status = errorOfTrailers(trailers as IncomingHttpHeaders);
      this.completeIfWhole();
    });
    stream.on('end', () => {
      this.hasEnded = true;
      this.completeIfWhole();
    });
    // 'close' finds the error in the reset code or with the connection.
    stream.on('error', () => undefined);
    stream.on('close', () => this.closed());
  }

  send(frame: Buffer): void {
    if (!this.isOver && !this.stream.writableEnded) this.stream.write(frame);
  }

  sendLast(frame: Buffer): void {
    this.stream.end(frame);
  }

  /** Cancels the stream at the server and ends the call with `error`. */
  cancel(error: Error): void {
    if (this.isOver) return;
    this.finish(error);
    this.stream.close(constants.NGHTTP2_CANCEL);
  }

  private responded(headers: IncomingHttpHeaders): void {
    if (headers['grpc-status'] !== undefined) {
      // No message follows, and the rest of the request need not be sent.
      this.hasTrailers = true;
      this.status = errorOfTrailers(headers);
      if (this.status) this.cancel(this.status);
      return;
    }
    const isGrpc = String(headers['content-type']).startsWith('application/grpc');
    const status = headers[':status'] as unknown as number;
    if (status !== 200 || !isGrpc) this.cancel(errorOfHttpStatus(status));
  }

  private received(chunk: Buffer): void {
    if (this.isOver) return;
    try {
      this.frames.push(chunk);
    } catch (error) {
      this.cancel(error instanceof GrpcError ? error : new GrpcError(grpcStatus.internal, String(error)));
    }
  }

  private completeIfWhole(): void {
    if (!this.hasTrailers || !this.hasEnded || this.isOver) return;
    const isWritten = this.stream.writableFinished;
    this.finish(this.status ?? this.cutShort());
    if (!isWritten) this.stream.close(constants.NGHTTP2_CANCEL);
  }

  private cutShort(): GrpcError | undefined {
    return this.frames.isPending ? new MalformedMessageError('the last message is cut short') : undefined;
  }

  private closed(): void {
    if (this.isOver) return;
    if (this.hasTrailers) return this.finish(this.status ?? this.cutShort());
    this.finish(this.lossOfConnection() ?? errorOfReset(this.stream.rstCode));
  }

  private finish(error: Error | undefined): void {
    this.isOver = true;
    this.over(this);
    const { listener } = this;
    this.listener = noListener;
    listener.closed(error);
  }
}
